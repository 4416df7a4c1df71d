import Database
import Domain
import Encoding
import Foundation
import Repositories

/// A provider looks at a session token of its own user (RFC 7662).
package struct Introspect: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// A session and its user's level, as introspection shows them (RFC 7662 §2.2).
    package struct Answer: Sendable {
        package let session: Session
        /// When it ends at the latest.
        package let expiresAt: Date
        /// How far its user is verified.
        package let assurance: Assurance
    }

    /// Looks at a session token; `nil` for anything that is not the provider's own Authenticated session. Not an
    /// activity: the idle clock goes on.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` if the caller's key was revoked since it proved itself.
    package func callAsFunction(_ token: String, for caller: ProvenProvider) async throws -> Answer? {
        let session = try await context.ownSession(token, of: caller.id)
        let mark = context.caches.levels.mark
        // The caller may have held back its body for as long as a request may take.
        let level = try await context.store.snapshot { transaction in
            try caller.requireActive(in: transaction)
            return try session.flatMap { try UserRepository(transaction).level(of: $0.userID) }
        }
        guard let session else { return nil }
        if let level { context.caches.levels.remember(level, of: session.userID, since: mark) }
        return answer(session, level ?? AssuranceLevel(.none, until: nil))
    }

    /// Looks at a session token from memory alone; `nil` wherever the answer is another, or the store would be asked: then
    /// the call above decides.
    ///
    /// - Parameter tokenHash: that of the session's token.
    package func fromMemory(_ tokenHash: Digest256, for caller: ProviderID) -> Answer? {
        guard let session = context.caches.sessions.known(tokenHash)?.session, session.providerID == caller,
            let level = context.caches.levels.known(session.userID)
        else { return nil }
        return answer(session, level)
    }

    private func answer(_ session: Session, _ level: AssuranceLevel) -> Answer? {
        let policy = context.policy[\.sessions]
        let now = context.environment.now()
        guard session.effectiveState(at: now, policy: policy) == .authenticated else { return nil }
        return Answer(
            session: session, expiresAt: session.expiry(policy: policy), assurance: level.value(at: now))
    }
}

extension ServiceContext {
    /// The session of a token, if it is one of the provider's.
    func ownSession(_ token: String, of provider: ProviderID) async throws -> Session? {
        guard let shown = SessionToken(shown: token),
            let cached = try await caches.sessions.find(shown, now: environment.now(), policy: policy[\.sessions]),
            cached.session.providerID == provider
        else { return nil }
        return cached.session
    }
}
