import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

package extension Service {
    /// A device's request to exchange its session token.
    struct SessionExchange: Sendable {
        let sessionToken: String
        let targets: [String]
        let clientID: String?
        let wantsClaims: Bool
        let proof: String?

        /// - Parameters:
        ///   - sessionToken: the session's token.
        ///   - targets: names of the session's provider: its id, or a URL that is registered for it and becomes the
        ///     audience. A token for another provider is never issued.
        ///   - clientID: the app's id, if the request names one.
        ///   - scope: with the word `verified_claims` the token contains what a card proved, if one did. Other words are
        ///     ignored.
        ///   - proof: a DPoP proof by the device's certified key, if the request has one.
        package init(
            _ sessionToken: String, for targets: [String], clientID: String? = nil, scope: String? = nil,
            proof: String? = nil
        ) {
            self.sessionToken = sessionToken
            self.targets = targets
            self.clientID = clientID
            self.proof = proof
            wantsClaims =
                scope?.split(separator: " ").contains { $0 == SessionAccessToken.verifiedClaimsScope } ?? false
        }

        func isOfApp(_ session: Session) -> Bool {
            clientID == nil || clientID.flatMap { ApplicationID($0[...]) } == session.applicationID
        }
    }

    /// An access token and its lifetime.
    struct ExchangedToken: Sendable {
        package let token: Secret<String>
        /// The session of the exchanged token.
        package let session: Session
        /// Whether it is bound to the device's key by a DPoP proof, not to its certificate.
        package let isBoundToKey: Bool
        /// The granted part of the requested scope.
        package let scope: String?
        /// The token's lifetime in seconds.
        package let lifetime: Int
    }

    /// Signs a token for the provider of an authenticated session on its own device, which the provider verifies
    /// without a call (RFC 8693). The token is not stored.
    ///
    /// - Throws: `Refusal` with the session codes; `rate_limited`; `invalid_dpop_proof`; `malformed_request`, for
    ///   another target with reason `invalid_target`.
    func exchangeSessionToken(_ request: SessionExchange, on connection: ClientConnection) async throws
        -> ExchangedToken
    {
        try countExchange(connection)
        let session = try await checkSession(request.sessionToken, on: connection)
        guard request.isOfApp(session) else {
            throw request.clientID.flatMap { ProviderID($0[...]) } == session.providerID
                ? Refusal.providerIDAsApplication(.clientID) : .clientOfAnotherApp
        }
        let confirmation = try confirmation(by: request.proof, on: connection)
        let basis: Basis
        // The session is read again, because the cache that admitted it may have been a second old.
        if !request.wantsClaims, Self.names(session, request.targets), invalidator.isCurrent,
            isAuthenticated(connection), sessionFromMemory(session.tokenHash, on: connection) != nil,
            let known = self.basis(of: session)
        {
            basis = known
        } else {
            basis = try await readBasis(of: session, for: request.targets, withClaims: request.wantsClaims)
        }
        let algorithm = try await caches.providers.find(session.providerID)?.provider.tokenAlgorithm ?? .rs256
        return try sign(session, basis, confirmation, connection.attestation, by: algorithm)
    }

    /// Signs a token from memory alone; `nil` if the call would be refused or needs the store. Then
    /// ``exchangeSessionToken(_:on:)`` decides.
    func exchangeFromMemory(_ request: SessionExchange, on connection: ClientConnection) -> ExchangedToken? {
        guard request.proof == nil, !request.wantsClaims, let token = SessionToken(shown: request.sessionToken),
            // Without a session on this connection the store is not read.
            let held = caches.sessions.known(token.hash)?.session, Self.names(held, request.targets),
            invalidator.isCurrent, isAuthenticated(connection),
            let session = sessionFromMemory(token.hash, on: connection), request.isOfApp(session),
            let basis = basis(of: session),
            let provider = caches.providers.known(session.providerID)?.provider,
            // Last, so that a request is counted once, here or by the call above.
            (try? countExchange(connection)) != nil
        else { return nil }
        return try? sign(session, basis, .certificate, connection.attestation, by: provider.tokenAlgorithm)
    }

    /// Each token costs a signature, which takes many times as long as a check.
    private func countExchange(_ connection: ClientConnection) throws(Refusal) {
        guard rateLimiting == .on else { return }
        try connection.certificate?.exchanges.count(
            limit: RateLimit(count: policy[\.accessTokens].exchangedPerMinute, per: 60),
            now: environment.now())
    }

    private func sign(
        _ session: Session, _ basis: Basis, _ confirmation: SessionAccessToken.Confirmation,
        _ attestation: DeviceAttestation.Level, by algorithm: AccessTokenAlgorithm
    ) throws -> ExchangedToken {
        let now = environment.now()
        let claims = VerifiedClaims(
            basis.proved, ages: basis.ages, assurance: basis.assurance, on: CalendarDate(utcDayOf: now))
        let end = session.expiry(policy: policy[\.sessions])
        let lifetime = min(policy[\.accessTokens].sessionLifetime, end.timeIntervalSince(now))
        let token = SessionAccessToken(
            issuer: urls.issuer, session: session, audience: basis.audience, assurance: basis.assurance,
            attestation: attestation, confirmation: confirmation, verifiedClaims: claims,
            identifier: environment.newUUID(),
            issuedAt: now,
            expiresAt: now.addingTimeInterval(lifetime))
        return ExchangedToken(
            token: try token.signed(with: keys.accessTokens, algorithm: algorithm), session: session,
            isBoundToKey: confirmation != .certificate,
            scope: claims.map { _ in SessionAccessToken.verifiedClaimsScope },
            lifetime: max(0, Int(saturating: lifetime)))
    }

    /// The claims of a token in addition to the session.
    private struct Basis: Sendable {
        let audience: String
        let assurance: Assurance
        var proved: AuthenticatedUser?
        var ages: ProvenAges?
    }

    /// Whether all targets are the id of the session's provider, for which the store is not needed.
    private static func names(_ session: Session, _ targets: [String]) -> Bool {
        targets.allSatisfy { ProviderID($0[...]) == session.providerID }
    }

    /// The claims from this process's memory; `nil` if only the store has them.
    ///
    /// They are those of the store if nothing was committed since memory was read, which the caller checks first.
    private func basis(of session: Session) -> Basis? {
        guard let level = caches.levels.known(session.userID) else { return nil }
        return Basis(
            audience: session.providerID.description, assurance: level.value(at: environment.now()))
    }

    /// The claims from the store, because the node's memory may be a second old, and the token is valid for longer.
    private func readBasis(of session: Session, for targets: [String], withClaims: Bool) async throws -> Basis {
        let (keys, urls, levels) = (keys.personal, urls, caches.levels)
        let (mark, isKnown) = (levels.mark, levels.known(session.userID) != nil)
        let (basis, level) = try await read(for: session) { transaction, holder in
            let basis = Basis(
                audience: try Self.audience(targets, of: session, besides: urls, in: transaction),
                assurance: holder.user.assurance,
                proved: withClaims
                    ? try AuthenticatedUserRepository(transaction, keys: keys).find(holder.user.id) : nil,
                ages: withClaims ? try AgeProofRepository(transaction, keys: keys).find(holder.user.id) : nil)
            return (basis, isKnown ? nil : try UserRepository(transaction).level(of: session.userID))
        }
        if let level { levels.remember(level, of: session.userID, since: mark) }
        return basis
    }

    private static func audience(
        _ targets: [String], of session: Session, besides urls: ServiceURLs, in transaction: any Transaction
    ) throws -> String {
        var audience = session.providerID.description
        for target in targets where ProviderID(target[...]) != session.providerID {
            let url = ResourceURL(target)
            guard let found = try url.flatMap({ try ProviderResourceRepository(transaction).find($0) }),
                found.providerID == session.providerID, ![urls.issuer, urls.client].contains(where: found.url.isWithin)
            else {
                throw Refusal.foreignAudience
            }
            audience = found.url.text
        }
        return audience
    }

    /// A proof's `jti` is not stored: a caller who can repeat it has the key that signed it, because the connection has
    /// its certificate.
    private func confirmation(
        by proof: String?, on connection: ClientConnection
    ) throws(Refusal) -> SessionAccessToken.Confirmation {
        guard let proof else { return .certificate }
        guard let certificate = connection.certificate?.certificate else {
            throw Refusal.proofWithoutCertificate
        }
        return .key(
            try DPoPProof(
                proof, keyHash: certificate.keyHash, method: "POST", url: urls.clientTokenEndpoint,
                now: environment.now()))
    }
}
