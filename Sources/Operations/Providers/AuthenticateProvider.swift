import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// Authenticates a provider's backend by a token that one of its keys signed, and counts the call for this provider.
package extension Service {
    /// A provider's backend, and the key that authenticated it.
    struct ProvenProvider: Sendable {
        /// The provider as this process has cached it.
        package let known: CachedProvider
        let keyID: ProviderKeyID
        /// The permitted actions: all of them, except with an access token.
        var scopes = Set(ProviderScope.allCases)

        package var id: ProviderID { known.provider.id }

        /// Checks the key and the provider again, in the transaction that acts. Either may have ended since the proof, and
        /// the node's cache may not know it yet.
        ///
        /// - Throws: `Refusal` `provider_token_invalid`.
        func requireActive(in transaction: any Transaction) throws {
            try Self.requireActive(keyID, of: id, in: transaction)
        }

        static func requireActive(
            _ key: ProviderKeyID, of provider: ProviderID, in transaction: any Transaction
        ) throws {
            guard try ProviderKeyRepository(transaction).mayAct(key, for: provider) else {
                throw Refusal.providerKeyEnded
            }
        }
    }

    /// A provider's backend that authenticated by a token made for this one request.
    ///
    /// Changes of the receivers of events and of the valid keys require this type, not ``Service/ProvenProvider``, so a
    /// stolen access token cannot make them.
    struct FreshProof: Sendable {
        /// The provider, with the key that signed the proof.
        let provider: ProvenProvider

        fileprivate init(_ provider: ProvenProvider) { self.provider = provider }

        package var id: ProviderID { provider.id }

        /// Checks the key and the provider again: see ``Service/ProvenProvider``.
        ///
        /// - Throws: `Refusal` `provider_token_invalid`.
        func requireActive(in transaction: any Transaction) throws { try provider.requireActive(in: transaction) }
    }

    /// A client's authentication in a form: `client_assertion`, `client_assertion_type`, and optionally `client_id` (RFC
    /// 7521 §4.2).
    struct ShownAssertion: Sendable {
        let assertion: String?
        let type: String?
        let clientID: String?

        package init(assertion: String?, type: String?, clientID: String?) {
            self.assertion = assertion
            self.type = type
            self.clientID = clientID
        }
    }

    /// An access token with its lifetime in seconds, its scopes, and the provider that it was issued to.
    typealias ProviderTokenGrant = (
        token: Secret<String>, lifetime: Int, scopes: Set<ProviderScope>, provider: ProviderID
    )

    /// Verifies `Authorization: Bearer …`: a provider token, which permits all reading and ending, or an access token.
    ///
    /// - Parameters:
    ///   - scope: the scope that an access token must have; `nil` if any scope is enough.
    ///   - request: the request that contains the token. A token that names another request is refused.
    ///   - cost: the cost of the call.
    /// - Throws: `Refusal` `provider_token_required`, `provider_token_invalid`, `insufficient_scope` or `rate_limited`.
    func authenticateProvider(
        _ bearer: String?, for scope: ProviderScope?, in request: ProvenRequest, at cost: CallCost
    ) async throws -> ProvenProvider {
        let token = try readToken(bearer)
        let now = environment.now()
        let isAccessToken = ProviderAccessToken.isNamed(by: token)
        let (verified, isForOneRequest) =
            isAccessToken
            ? (try await verifyAccessToken(token, for: scope, now: now), false)
            : try await verifyProviderToken(token, in: request, now: now)
        // A cached token is valid for every request, so a token for one request is not cached.
        if let bearer, !isForOneRequest { caches.bearers.remember(verified, .of(bearer)) }
        try count(cost, by: .provider(verified.provider.provider.id))
        return ProvenProvider(
            known: verified.provider, keyID: verified.keyID, scopes: verified.scopes ?? Set(ProviderScope.allCases))
    }

    /// The provider of a token that was verified before, from memory alone; `nil` if the call above must decide.
    ///
    /// - Parameter bearer: the token's SHA-256.
    func providerFromMemory(_ bearer: Digest256, for scope: ProviderScope) -> ProviderID? {
        guard invalidator.isFresh, invalidator.isClockRight,
            let verified = caches.bearers.known(bearer),
            verified.permits(scope, at: environment.now()),
            caches.providers.known(verified.provider.provider.id) === verified.provider
        else { return nil }
        return verified.provider.provider.id
    }

    private func verifyProviderToken(
        _ token: UnverifiedToken, in request: ProvenRequest, now: Date
    ) async throws -> (VerifiedBearers.Bearer, isForOneRequest: Bool) {
        let known = try await caches.providers.find(token.issuer)
        let verified = try providerTokens.verify(
            token, with: request, provider: known?.provider, key: known?.key(token.keyID), now: now)
        guard let known else { throw Refusal.unknownTokenIssuer }
        ProvenParties.note(known.provider.id)
        let bearer = VerifiedBearers.Bearer(
            provider: known, keyID: verified.keyID, scopes: nil, verifiedAt: now, expiresAt: verified.expiresAt)
        return (bearer, verified.isForOneRequest)
    }

    /// An access token is valid no longer than the key that authenticated its provider.
    private func verifyAccessToken(
        _ token: UnverifiedToken, for scope: ProviderScope?, now: Date
    ) async throws -> VerifiedBearers.Bearer {
        let access = try ProviderAccessToken(
            token, keys: keys.accessTokens, issuer: urls.issuer, now: now)
        guard let known = try await caches.providers.find(access.provider), known.provider.disabledAt == nil,
            let key = known.key(access.keyID), !key.retired
        else {
            throw Refusal.accessTokenKeyEnded
        }
        ProvenParties.note(access.provider)
        guard scope?.isGranted(by: access.scopes) ?? true else {
            throw Refusal.scopeRequired(scope)
        }
        return VerifiedBearers.Bearer(
            provider: known, keyID: access.keyID, scopes: access.scopes, verifiedAt: now, expiresAt: access.expiresAt)
    }

    /// Verifies a client assertion (RFC 7523 §2.2) and spends it. It is valid once, whatever the result of the request.
    ///
    /// - Throws: `Refusal` `provider_token_required`, `provider_token_invalid` or `rate_limited`.
    func authenticateProvider(_ shown: ShownAssertion, at cost: CallCost) async throws -> ProvenProvider {
        guard let assertion = shown.assertion else {
            throw Refusal.assertionRequired
        }
        guard shown.type == ClientAssertion.type else {
            throw Refusal.wrongAssertionType(ClientAssertion.type)
        }
        let token = try readToken(assertion)
        let known = try await caches.providers.find(token.issuer)
        let proof = try providerTokens.verifyAssertion(
            token, audiences: urls.audiences, provider: known?.provider, key: known?.key(token.keyID),
            now: environment.now())
        guard let known else { throw Refusal.unknownTokenIssuer }
        ProvenParties.note(proof.provider)
        guard shown.clientID == nil || shown.clientID.flatMap({ ProviderID($0[...]) }) == proof.provider else {
            let isApp = known.applications.contains { $0.id.description == shown.clientID?.lowercased() }
            throw isApp ? Refusal.applicationIDAsClient : .clientOfAnotherProvider
        }
        try await spend(
            "assertion \(proof.identifier)", of: proof.provider, until: proof.rememberUntil, refusing: .assertionUsed)
        try count(cost, by: .provider(proof.provider))
        return ProvenProvider(known: known, keyID: proof.keyID)
    }

    /// Verifies a fresh proof, sent in place of the bearer token or in addition to a token of the same provider. That
    /// token may be an access token. The result contains the proof's key.
    ///
    /// - Parameter scope: the scope that an access token must have in any case; `nil` if any scope is enough.
    /// - Throws: `Refusal` `provider_token_required`, `provider_token_invalid`, `insufficient_scope` or `rate_limited`.
    func freshProof(
        _ bearer: String?, beside proof: String?, of scope: ProviderScope? = nil, for request: ProvenRequest,
        at cost: CallCost
    ) async throws -> FreshProof {
        guard let proof else {
            guard ProviderAccessToken.isNamed(by: try readToken(bearer)) else {
                return try await freshProof(bearer, for: request, at: cost)
            }
            _ = try await authenticateProvider(bearer, for: scope, in: request, at: cost)
            throw Refusal.freshProofRequired
        }
        let caller = try await authenticateProvider(bearer, for: scope, in: request, at: cost)
        return try await freshProof(proof, like: caller, for: request)
    }

    /// Verifies a fresh proof that was sent in addition to the token of a caller, whose call was already counted.
    func freshProof(
        _ proof: String, like caller: ProvenProvider, for request: ProvenRequest
    ) async throws -> FreshProof {
        let proven = try await freshProof(proof, for: request, at: .free)
        guard proven.id == caller.id else {
            throw Refusal.proofOfAnotherProvider
        }
        return proven
    }

    /// Verifies a fresh proof for this one request and spends it. It is valid once, whatever the result of the request.
    func freshProof(
        _ bearer: String?, for request: ProvenRequest, at cost: CallCost
    ) async throws -> FreshProof {
        let token = try readToken(bearer)
        let known = try await caches.providers.find(token.issuer)
        let proof = try providerTokens.verifyFresh(
            token, request: request, provider: known?.provider, key: known?.key(token.keyID),
            now: environment.now())
        guard let known else { throw Refusal.unknownTokenIssuer }
        ProvenParties.note(proof.token.provider)
        try await spend(
            "proof \(proof.identifier)", of: proof.token.provider, until: proof.rememberUntil, refusing: .proofUsed)
        try count(cost, by: .provider(proof.token.provider))
        return FreshProof(ProvenProvider(known: known, keyID: proof.token.keyID))
    }

    private var providerTokens: ProviderTokenVerifier {
        ProviderTokenVerifier(realm: realm, clockSkew: policy[\.identityTokens].clockSkew)
    }

    /// Counts a new proof and spends it in one transaction, because the store keeps a row for each. A spent proof is not
    /// counted, because somebody else may replay it.
    private func spend(
        _ identifier: String, of provider: ProviderID, until expiry: Date, refusing used: Refusal
    ) async throws {
        let limit = RateLimit(count: policy[\.accessTokens].provenPerMinute, per: 60)
        let isLimited = rateLimiting == .on
        let isNew = try await store.transaction {
            guard try NonceRepository($0).spend(identifier: identifier, of: provider, until: expiry) else {
                return false
            }
            if isLimited { try RateRepository($0).count("proofs \(provider)", limit: limit) }
            return true
        }
        guard isNew else { throw used }
    }

    private func readToken(_ bearer: String?) throws -> UnverifiedToken {
        try invalidator.requireFresh()
        guard let bearer else {
            throw Refusal.bearerRequired
        }
        return try UnverifiedToken(bearer, refusing: .providerTokenInvalid)
    }

    /// Signs an access token for calls of the authenticated provider (RFC 6749 §4.4). The token is not stored. It
    /// becomes invalid with the key that signed the assertion.
    ///
    /// - Parameters:
    ///   - scope: the requested scopes; `nil` for `ProviderScope.unasked`.
    ///   - cost: the cost of the call.
    /// - Throws: `Refusal` `provider_token_required`, `provider_token_invalid`; `malformed_request` with reason
    ///   `invalid_scope`; `rate_limited`.
    func issueProviderAccessToken(
        _ assertion: ShownAssertion, scope: String?, at cost: CallCost
    ) async throws -> ProviderTokenGrant {
        let caller = try await authenticateProvider(assertion, at: cost)
        let scopes = try scope.map(ProviderScope.parse) ?? ProviderScope.unasked
        let now = environment.now()
        let lifetime = policy[\.accessTokens].providerLifetime
        let token = ProviderAccessToken(
            provider: caller.id, keyID: caller.keyID, scopes: scopes, identifier: environment.newUUID(),
            issuedAt: now, expiresAt: now.addingTimeInterval(lifetime))
        return (
            token: try token.signed(with: keys.accessTokens, issuer: urls.issuer),
            lifetime: Int(saturating: lifetime), scopes: scopes, provider: caller.id
        )
    }
}
