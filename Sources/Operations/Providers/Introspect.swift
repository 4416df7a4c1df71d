import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// A provider looks at a session token of its own user (RFC 7662).
package struct Introspect: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// A session and its user's level, as introspection shows them (RFC 7662 §2.2).
    package struct Answer: Sendable {
        package let session: Session
        /// When it ends at the latest.
        package let expiresAt: Date
        /// How far its user is verified.
        package let assurance: Assurance
        /// What a card proved, if the caller may read it.
        package let verifiedClaims: VerifiedClaims?
    }

    /// Looks at a session token; `nil` for anything that is not the provider's own Authenticated session. Not an
    /// activity: the idle clock goes on.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` if the caller's key was revoked since it proved itself.
    package func callAsFunction(_ token: String, for caller: ProvenProvider) async throws -> Answer? {
        let session = try await context.ownSession(token, of: caller.id)
        let mark = context.caches.levels.mark
        // The caller may have held back its body for as long as a request may take.
        let (keys, now) = (context.keys.personal, context.environment.now())
        let (level, proved) = try await context.read { transaction in
            try caller.requireActive(in: transaction)
            let level = try session.flatMap { try UserRepository(transaction).level(of: $0.userID) }
            let mayShow = caller.scopes.contains(.usersRead) && (level?.value(at: now) ?? .none) >= .barcode
            let users = AuthenticatedUserRepository(transaction, keys: keys)
            return (level, try mayShow ? session.flatMap { try users.find($0.userID) } : nil)
        }
        guard let session else { return nil }
        if let level { context.caches.levels.remember(level, of: session.userID, since: mark) }
        return answer(session, level ?? AssuranceLevel(.none, until: nil), proved)
    }

    /// Looks at a session token from memory alone; `nil` wherever the answer is another, or the store would be asked: then
    /// the call above decides.
    ///
    /// - Parameter tokenHash: that of the session's token.
    package func fromMemory(_ tokenHash: Digest256, for caller: ProviderID) -> Answer? {
        guard let session = context.caches.sessions.known(tokenHash)?.session, session.providerID == caller,
            let level = context.caches.levels.known(session.userID),
            // What a card proved is in the store.
            level.value(at: context.environment.now()) < .barcode
        else { return nil }
        return answer(session, level, nil)
    }

    private func answer(_ session: Session, _ level: AssuranceLevel, _ proved: AuthenticatedUser?) -> Answer? {
        let policy = context.policy[\.sessions]
        let now = context.environment.now()
        guard session.effectiveState(at: now, policy: policy) == .authenticated else { return nil }
        let assurance = level.value(at: now)
        return Answer(
            session: session, expiresAt: session.expiry(policy: policy), assurance: assurance,
            verifiedClaims: VerifiedClaims(proved, assurance: assurance, on: CalendarDate(utcDayOf: now)))
    }

    /// Signs an answer for the caller, as evidence of it (RFC 9701).
    ///
    /// - Parameter answer: the JSON text that the caller would get without a signature.
    /// - Throws: `Refusal` `rate_limited`.
    package func signed(_ answer: [UInt8], for caller: ProvenProvider) throws -> Secret<String> {
        try context.countSignatures(for: caller)
        let token = IntrospectionToken(
            issuer: context.urls.issuer, provider: caller.id, issuedAt: context.environment.now(), answer: answer)
        return try token.signed(with: context.keys.accessTokens, algorithm: caller.known.provider.tokenAlgorithm)
    }
}

extension Service {
    /// Counts an answer with signatures, which takes many times one without.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func countSignatures(for caller: ProvenProvider) throws(Refusal) {
        guard rateLimiting == .on else { return }
        try caller.known.signatures.count(
            limit: RateLimit(count: policy[\.accessTokens].provenPerMinute, per: 60), now: environment.now())
    }

    /// The session of a token, if it is one of the provider's.
    ///
    /// - Throws: `Refusal` `malformed_request` for an access token of this service. It is valid until it expires, and no
    ///   call here changes that, so that "not active" and "revoked" would both be wrong.
    func ownSession(_ token: String, of provider: ProviderID) async throws -> Session? {
        guard let shown = SessionToken(shown: token) else {
            guard !SessionAccessToken.isSigned(token, by: keys.accessTokens) else {
                throw Refusal.accessTokenIntrospected(issuer: urls.issuer)
            }
            return nil
        }
        guard
            let cached = try await caches.sessions.find(shown, now: environment.now(), policy: policy[\.sessions]),
            cached.session.providerID == provider
        else { return nil }
        return cached.session
    }
}
