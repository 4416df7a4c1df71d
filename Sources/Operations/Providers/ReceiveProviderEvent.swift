import Database
import Domain
import Foundation
import Repositories
import Tokens

/// Acts on what a provider tells: its user's sessions are over there, so they are over here.
package struct ReceiveProviderEvent: Sendable {
    private let realm: String
    private let store: any Database
    private let providers: ProviderCache
    private let sessions: SessionCache
    private let watch: CacheInvalidator
    private let policy: CurrentPolicy
    private let environment: Environment

    package init(
        realm: String, store: any Database, providers: ProviderCache, sessions: SessionCache, watch: CacheInvalidator,
        policy: CurrentPolicy, environment: Environment
    ) {
        self.realm = realm
        self.store = store
        self.providers = providers
        self.sessions = sessions
        self.watch = watch
        self.policy = policy
        self.environment = environment
    }

    /// Reads a Security Event Token and ends the sessions that it names, once; a repeated one is acknowledged alike. Of
    /// a subject that is unknown, or another provider's, nothing is said.
    ///
    /// - Throws: `Refusal` `provider_token_invalid`, `unavailable`.
    package func callAsFunction(_ compact: String) async throws {
        try watch.requireFresh()
        let token = try UnverifiedToken(compact, refusing: .providerTokenInvalid)
        let known = try await providers.find(token.issuer)
        let event = try ProviderTokenVerifier(realm: realm, clockSkew: policy[\.identityTokens].clockSkew).verifyEvent(
            token, provider: known?.provider, key: known?.key(token.keyID), now: environment.now())
        guard let keyID = token.keyID else { throw Refusal(.providerTokenInvalid, "The header has no kid.") }
        let ended = try await store.transaction { transaction -> [Session] in
            try ProvenProvider.requireActive(keyID, of: event.provider, in: transaction)
            guard
                try NonceRepository(transaction).spend(
                    identifier: "event \(event.identifier)", of: event.provider, until: event.rememberUntil)
            else { return [] }
            let records = SessionRepository(transaction)
            let sessions: [Session]
            switch event.subject {
            case .session(let id):
                sessions = [try records.find(id)].compactMap(\.self).filter { $0.providerID == event.provider }
            case .user(let externalID):
                let user = try UserRepository(transaction).find(providerID: event.provider, externalID: externalID)
                sessions = try user.map { try records.listOpen(.user($0.id)) } ?? []
            }
            for session in sessions {
                try records.end(.session(session.id), at: transaction.now, reason: "ended by its provider")
                try ChangeLog(transaction).announce(.session(session.tokenHash))
            }
            return sessions
        }
        for session in ended { sessions.drop(session.tokenHash) }
    }
}
