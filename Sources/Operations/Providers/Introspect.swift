import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

package extension Service {
    /// A session and its user's level, as introspection returns them (RFC 7662 §2.2).
    struct Introspection: Sendable {
        package let session: Session
        /// When the session expires at the latest.
        package let expiresAt: Date
        /// How far the session's user is verified.
        package let assurance: Assurance
        /// What the maker of its device attested.
        package let attestation: DeviceAttestation.Level
        /// What a card or a wallet proved, if the caller may read it.
        package let verifiedClaims: VerifiedClaims?
    }

    /// Introspects a session token for its provider (RFC 7662); `nil` unless it is an authenticated session of the
    /// provider. Introspection is not a use of the session.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` if the caller's key was revoked after it authenticated.
    func introspect(_ token: String, for caller: ProvenProvider) async throws -> Introspection? {
        let session = try await ownSession(token, of: caller.id)
        let mark = caches.levels.mark
        // The caller may have delayed its body for as long as a request may take.
        let (keys, now) = (keys.personal, environment.now())
        let (level, proved, ages) = try await read {
            transaction -> (AssuranceLevel?, AuthenticatedUser?, ProvenAges?) in
            try caller.requireActive(in: transaction)
            let level = try session.flatMap { try UserRepository(transaction).level(of: $0.userID) }
            guard let session, caller.scopes.contains(.usersRead), let level else { return (level, nil, nil) }
            let isCardShown = level.value(at: now) >= .barcode
            return (
                level,
                try isCardShown
                    ? AuthenticatedUserRepository(transaction, keys: keys).find(session.userID) : nil,
                try level.hasAgeProof ? AgeProofRepository(transaction, keys: keys).find(session.userID) : nil
            )
        }
        guard let session else { return nil }
        // It is in memory from now on, and so is the next introspection of the session.
        let certificate = try await caches.certificates.find(session.thumbprint)
        if let level { caches.levels.remember(level, of: session.userID, since: mark) }
        return introspection(
            of: session, level ?? AssuranceLevel(.none, until: nil), certificate, proved, ages)
    }

    /// Introspects a session token from memory alone; `nil` if the call above must decide.
    ///
    /// - Parameter tokenHash: the hash of the session's token.
    func introspectFromMemory(_ tokenHash: Digest256, for caller: ProviderID) -> Introspection? {
        guard let session = caches.sessions.known(tokenHash)?.session, session.providerID == caller,
            let level = caches.levels.known(session.userID),
            // The claims that a card or a wallet proved are in the store.
            level.value(at: environment.now()) < .barcode, !level.hasAgeProof,
            let certificate = caches.certificates.known(session.thumbprint), !certificate.isInDoubt
        else { return nil }
        return introspection(of: session, level, certificate, nil, nil)
    }

    private func introspection(
        of session: Session, _ level: AssuranceLevel, _ certificate: CachedCertificate?,
        _ proved: AuthenticatedUser?, _ ages: ProvenAges?
    ) -> Introspection? {
        let policy = policy[\.sessions]
        let now = environment.now()
        guard session.effectiveState(at: now, policy: policy) == .authenticated else { return nil }
        let assurance = level.value(at: now)
        return Introspection(
            session: session, expiresAt: session.expiry(policy: policy), assurance: assurance,
            attestation: certificate?.certificate.attestation ?? .unattested,
            verifiedClaims: VerifiedClaims(
                proved, ages: ages, assurance: assurance, on: CalendarDate(utcDayOf: now)))
    }

    /// Signs an introspection for the caller, as evidence of it (RFC 9701).
    ///
    /// - Parameter answer: the JSON text of the unsigned response.
    /// - Throws: `Refusal` `rate_limited`.
    func signIntrospection(_ answer: [UInt8], for caller: ProvenProvider) throws -> Secret<String> {
        try countSignatures(for: caller)
        let token = IntrospectionToken(
            issuer: urls.issuer, provider: caller.id, issuedAt: environment.now(), answer: answer)
        return try token.signed(with: keys.accessTokens, algorithm: caller.known.provider.tokenAlgorithm)
    }

    /// Ends a session of a provider's own user by its token (RFC 7009). An unknown token, or another provider's, has no
    /// effect and is not an error.
    func revokeSession(_ token: String, for caller: ProvenProvider) async throws {
        guard let session = try await ownSession(token, of: caller.id) else { return }
        try await write { transaction, events in
            try caller.requireActive(in: transaction)
            let ended = try SessionRepository(transaction).end(.session(session.id), at: transaction.now, .byProvider)
            for ended in ended {
                events.record(
                    .sessionEnded(ended, .byProvider), by: "provider \(caller.id)", because: "provider_logout")
            }
        }
        node.forget(session)
    }
}

extension Service {
    /// Counts a signed response, which takes many times longer than an unsigned one.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func countSignatures(for caller: ProvenProvider) throws(Refusal) {
        guard rateLimiting == .on else { return }
        try caller.known.signatures.count(
            limit: RateLimit(count: policy[\.accessTokens].provenPerMinute, per: 60), now: environment.now())
    }

    /// The session of a token, if it belongs to the provider.
    ///
    /// - Throws: `Refusal` `malformed_request` for an access token of this service. It is valid until it expires, and
    ///   no call here changes that, so "not active" and "revoked" would both be wrong.
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
