import Database
import Domain
import Foundation
import Repositories
import Tokens

/// Whom a provider's event is about.
private enum EventScope {
    case session(Session)
    case user(UserID)
}

/// Acts on what a provider tells (RFC 8935): its user's sessions are over there, so they are over here; a credential of
/// its user changed there, so the user must sign in again here.
package extension Service {
    /// Reads a Security Event Token and acts on the sessions that it names, once; a repeated one is acknowledged alike. Of
    /// a subject that is unknown, or another provider's, nothing is said.
    ///
    /// - Parameter cost: that of the call, which counts for the provider that signed the event.
    /// - Throws: `Refusal` `provider_token_invalid`, `rate_limited`, `unavailable`.
    func receiveProviderEvent(_ compact: String, at cost: CallCost) async throws {
        try invalidator.requireFresh()
        let token = try UnverifiedToken(compact, refusing: .providerTokenInvalid)
        let known = try await caches.providers.find(token.issuer)
        let clockSkew = policy[\.identityTokens].clockSkew
        let event = try ProviderTokenVerifier(realm: realm, clockSkew: clockSkew).verifyEvent(
            token, audiences: [realm, urls.issuer], provider: known?.provider,
            key: known?.key(token.keyID), now: environment.now())
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

    /// Whom the event is about; `nil` if it is nobody of the provider's.
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
