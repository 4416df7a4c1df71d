import Database
import Domain
import Foundation
import Repositories
import Tokens

/// Acts on what a provider tells: its user's sessions are over there, so they are over here.
package struct ReceiveProviderEvent: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Reads a Security Event Token and ends the sessions that it names, once; a repeated one is acknowledged alike. Of
    /// a subject that is unknown, or another provider's, nothing is said.
    ///
    /// - Throws: `Refusal` `provider_token_invalid`, `unavailable`.
    package func callAsFunction(_ compact: String) async throws {
        try context.invalidator.requireFresh()
        let token = try UnverifiedToken(compact, refusing: .providerTokenInvalid)
        let known = try await context.caches.providers.find(token.issuer)
        let clockSkew = context.policy[\.identityTokens].clockSkew
        let event = try ProviderTokenVerifier(realm: context.realm, clockSkew: clockSkew).verifyEvent(
            token, provider: known?.provider, key: known?.key(token.keyID), now: context.environment.now())
        guard let keyID = token.keyID else { throw Refusal(.providerTokenInvalid, "The header has no kid.") }
        try await context.commit { transaction, events in
            try ProvenProvider.requireActive(keyID, of: event.provider, in: transaction)
            guard
                try NonceRepository(transaction).spend(
                    identifier: "event \(event.identifier)", of: event.provider, until: event.rememberUntil)
            else { return }
            switch event.subject {
            case .session(let id):
                let records = SessionRepository(transaction)
                guard let session = try records.find(id), session.providerID == event.provider else { return }
                for ended in try records.end(.session(id), at: transaction.now, .byProviderEvent) {
                    events.record(.sessionEnded(ended, .byProviderEvent))
                }
            case .user(let externalID):
                guard
                    let user = try UserRepository(transaction).find(
                        providerID: event.provider, externalID: externalID)
                else { return }
                try CutSessions(transaction: transaction)(.user(user.id), .byProviderEvent, &events)
            }
        }
    }
}
