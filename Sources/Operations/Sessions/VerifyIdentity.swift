import Domain
import Foundation
import Tokens

/// What a verified identity token says, with the nonce that it will spend.
package struct VerifiedIdentity: Sendable {
    let token: IdentityToken
    let known: CachedProvider
    /// Its nonce: issued by this service to this certificate, not yet spent here.
    let nonce: Nonce

    /// What the provider says of the user.
    var profile: UserProfile {
        UserProfile(displayName: token.displayName, avatarURL: token.avatarURL)
    }
}

/// What a user may prove themselves by.
package enum IdentityProof: Sendable {
    /// An identity token, or an ID token of an issuer.
    case any
    /// An identity token as the assertion of a grant, which names subject and audience (RFC 7523 §3).
    case assertion
    /// An ID token as the subject of a token exchange (RFC 8693 §3).
    case idToken
}

/// Everything about an identity token that can be verified without a transaction.
package struct VerifyIdentity: Sendable {
    private let context: ServiceContext
    private let issuerKeys: IssuerKeys

    package init(_ context: ServiceContext) {
        self.context = context
        issuerKeys = IssuerKeys(context)
    }

    /// Counts the attempt, and then verifies signature, claims and nonce, in this order: what a forger wrote is never
    /// evaluated.
    ///
    /// - Throws: `Refusal` `invalid_identity_token` with the contract's reasons; `rate_limited`.
    package func callAsFunction(
        _ compact: String, as proof: IdentityProof = .any, on connection: ClientConnection
    ) async throws -> VerifiedIdentity {
        if context.rateLimiting == .on {
            try connection.certificate?.identityTokens.count(
                limit: RateLimit(count: context.policy[\.sessions].createdPerMinute, per: 60),
                now: context.environment.now())
        }
        let unverified = try UnverifiedToken(compact, upTo: UnverifiedToken.maximumIdentityLength)
        let isIDToken =
            switch proof {
            case .any: IDTokenVerifier.isNamed(by: unverified)
            case .assertion: false
            case .idToken: true
            }
        let (token, known) =
            isIDToken
            ? try await verifyIDToken(unverified) : try await verify(unverified, isGrant: proof == .assertion)
        let nonce = try Nonce(shown: token.nonce, thumbprint: connection.thumbprint, key: context.keys.nonces)
        return VerifiedIdentity(token: token, known: known, nonce: nonce)
    }

    private func verify(
        _ unverified: UnverifiedToken, isGrant: Bool
    ) async throws -> (IdentityToken, CachedProvider) {
        let known = try await context.caches.providers.find(unverified.issuer)
        let verifier = IdentityTokenVerifier(
            realm: context.realm, endpoints: context.urls.audiences, isGrant: isGrant,
            policy: context.policy[\.identityTokens])
        let token = try verifier.verify(
            unverified, provider: known?.provider, key: known?.key(unverified.keyID), now: context.environment.now())
        guard let known else {
            throw Refusal(.invalidIdentityToken, "iss names no provider.", reason: .unknownIssuer)
        }
        return (token, known)
    }

    private func verifyIDToken(_ unverified: UnverifiedToken) async throws -> (IdentityToken, CachedProvider) {
        var known = try await issuerKeys.provider(of: unverified)
        if let found = known, found.provider.disabledAt == nil, let issuer = found.provider.issuer {
            known = try await issuerKeys.current(found, of: issuer, for: unverified.header)
        }
        let verifier = IDTokenVerifier(clockSkew: context.policy[\.identityTokens].clockSkew)
        func verify(by known: CachedProvider?) throws(Refusal) -> IdentityToken {
            try verifier.verify(
                unverified, provider: known?.provider, key: known?.issuerKey(of: unverified.header),
                now: context.environment.now())
        }
        let token: IdentityToken
        do throws(Refusal) {
            token = try verify(by: known)
        } catch {
            guard error.reason == .badSignature else { throw error }
            guard let before = known, let issuer = before.provider.issuer else { throw error }
            let now = try await issuerKeys.current(before, of: issuer, for: unverified.header, doubtful: true)
            // Without another key there is nothing to verify again.
            guard now.issuerKey(of: unverified.header)?.id != before.issuerKey(of: unverified.header)?.id else {
                throw error
            }
            token = try verify(by: now)
            known = now
        }
        guard let known else {
            throw Refusal(.invalidIdentityToken, "iss names no provider.", reason: .unknownIssuer)
        }
        try await issuerKeys.audit(token, of: known.provider)
        return (token, known)
    }
}
