import Database
import Domain
import Foundation
import Repositories
import Tokens

/// The session or user that a provider's event is about.
private enum EventScope {
    case session(Session)
    case user(UserID)
}

/// Applies a provider's events (RFC 8935). If its user's sessions ended there, they end here. If a credential of its
/// user changed there, the user must sign in again here.
package extension Service {
    /// Verifies a Security Event Token and applies it to the sessions that it names, once. A repetition gets the same
    /// response. The response does not reveal an unknown subject, or another provider's.
    ///
    /// - Parameter cost: the cost of the call, which is counted for the provider that signed the event.
    /// - Throws: `Refusal` `provider_token_invalid`, `rate_limited`, `unavailable`.
    func receiveProviderEvent(_ compact: String, at cost: CallCost) async throws {
        try invalidator.requireFresh()
        let token = try UnverifiedToken(event: compact)
        let known = try await caches.providers.find(token.issuer)
        let clockSkew = policy[\.identityTokens].clockSkew
        let event = try ProviderTokenVerifier(realm: realm, clockSkew: clockSkew).verifyEvent(
            token, audiences: [realm, urls.issuer], provider: known?.provider,
            key: known?.key(token.keyID), now: environment.now())
        ProvenParties.note(event.provider)
        try count(cost, by: .provider(event.provider))
        guard let keyID = token.keyID else { throw Refusal.eventWithoutKeyID }
        try await write { transaction, events in
            try ProvenProvider.requireActive(keyID, of: event.provider, in: transaction)
            guard
                try NonceRepository(transaction).spend(
                    identifier: "event \(event.identifier)", of: event.provider, until: event.rememberUntil)
            else { return }
            try Self.act(event, in: transaction, &events)
        }
    }

    private static func act(
        _ event: ProviderEventToken, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let sessions = SessionRepository(transaction)
        switch try scope(of: event, in: transaction) {
        case nil: return
        case .session(let session)? where event.effect == .endsSessions:
            for ended in try sessions.end(.session(session.id), at: transaction.now, .byProviderEvent) {
                events.record(.sessionEnded(ended, .byProviderEvent))
            }
        case .user(let user)? where event.effect == .endsSessions:
            try RevokeSessions(transaction: transaction)(.user(user), .byProviderEvent, &events)
        case .session(let session)? where event.effect == .challengesSessions:
            guard try sessions.challenge(.session(session.id), at: transaction.now) > 0 else { return }
            events.record(.sessionChallenged(session), by: "provider \(event.provider)")
        case .user(let user)? where event.effect == .challengesSessions:
            guard try sessions.challenge(.user(user), at: transaction.now) > 0 else { return }
            events.record(.userChallenged(user), by: "provider \(event.provider)")
        case .session?, .user?: return
        }
    }

    /// The user or session that the event is about; `nil` if the provider has no such subject.
    private static func scope(of event: ProviderEventToken, in transaction: any Transaction) throws -> EventScope? {
        let users = UserRepository(transaction)
        switch event.subject {
        case .session(let id):
            guard let session = try SessionRepository(transaction).find(id), session.providerID == event.provider
            else { return nil }
            return .session(session)
        case .user(let externalID):
            return try users.find(providerID: event.provider, externalID: externalID).map { .user($0.id) }
        case .nobody: return nil
        case .knownUser(let id):
            guard let user = try users.find(id), user.providerID == event.provider else { return nil }
            return .user(user.id)
        }
    }
}
