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

/// Everything about an identity token that can be verified without a transaction.
package struct VerifyIdentity: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Verifies signature, claims and nonce, in this order: what a forger wrote is never evaluated.
    ///
    /// - Parameter isGrant: whether it is the assertion of a grant, which names subject and audience (RFC 7523 §3).
    /// - Throws: `Refusal` `invalid_identity_token` with the contract's reasons.
    package func callAsFunction(
        _ compact: String, isGrant: Bool = false, on connection: ClientConnection
    ) async throws -> VerifiedIdentity {
        let unverified = try UnverifiedToken(compact)
        let known = try await context.caches.providers.find(unverified.issuer)
        let verifier = IdentityTokenVerifier(
            realm: context.realm, endpoints: context.urls.audiences, isGrant: isGrant,
            policy: context.policy[\.identityTokens])
        let token = try verifier.verify(
            unverified, provider: known?.provider, key: known?.key(unverified.keyID), now: context.environment.now())
        guard let known else {
            throw Refusal(.invalidIdentityToken, "iss names no provider.", reason: .unknownIssuer)
        }
        let nonce = try Nonce(shown: token.nonce, thumbprint: connection.thumbprint, key: context.keys.nonces)
        return VerifiedIdentity(token: token, known: known, nonce: nonce)
    }
}
