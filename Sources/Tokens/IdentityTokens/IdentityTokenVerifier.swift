import Domain
import Encoding
import Foundation

/// Turns an ``UnverifiedToken`` into an ``IdentityToken``, or refuses it with a reason.
///
/// The caller looks up ``UnverifiedToken/issuer`` and ``UnverifiedToken/keyID``, and passes the result to the
/// verifier. Claims are checked only after the signature, so that a forged token reveals nothing.
package struct IdentityTokenVerifier: Sendable {
    /// The realm that `aud` must name.
    let realm: String
    /// The largest accepted difference of a provider's clock, in seconds.
    let clockSkew: TimeInterval
    /// The longest `exp − iat`, in seconds; never more than 24 hours, whatever the policy says.
    let maximumLifetime: TimeInterval
    /// What `aud` may name instead of the realm: the issuer and the token endpoints.
    let endpoints: [String]
    /// Whether tokens come as the assertion of a grant, with `sub` and `aud` (RFC 7523 §3).
    let isGrant: Bool
    let profile: TokenProfile

    init(
        realm: String, endpoints: [String] = [], isGrant: Bool = false, clockSkew: TimeInterval = 60,
        maximumLifetime: TimeInterval = 600
    ) {
        profile = .identity(maximumLifetime: maximumLifetime, isGrant: isGrant)
        self.endpoints = endpoints
        self.isGrant = isGrant
        self.realm = realm
        self.clockSkew = clockSkew
        self.maximumLifetime = profile.maximumLifetime
    }

    /// Takes the limits of a policy.
    package init(
        realm: String, endpoints: [String] = [], isGrant: Bool = false, policy: IdentityTokenPolicy
    ) {
        self.init(
            realm: realm, endpoints: endpoints, isGrant: isGrant, clockSkew: policy.clockSkew,
            maximumLifetime: policy.maximumLifetime)
    }
}

package extension IdentityTokenVerifier {
    /// Verifies a token.
    ///
    /// - Parameters:
    ///   - provider: the provider that the token's `iss` names, `nil` if there is none.
    ///   - key: the key that the token's `kid` names, `nil` if there is none.
    ///   - onTrust: is called after the provider's signature was verified, before the claims are read.
    /// - Throws: `Refusal` `invalid_identity_token`, its reason one of `Refusal.Reason.ofIdentityTokens`.
    func verify(
        _ token: UnverifiedToken, provider: Provider?, key: RegisteredKey?, now: Date,
        onTrust: (ProviderID) -> Void = { _ in }
    ) throws(Refusal) -> IdentityToken {
        let input = TokenRule.Input(token: token, profile: profile, provider: provider, key: key)
        let (provider, key) = try input.requireTrust(refusing: .invalidIdentityToken)
        onTrust(provider.id)
        var claims = ClaimReader(token.payload)
        let identity = IdentityClaims(from: &claims, provider: provider, verifier: self, now: now)
        if let defect = claims.defects.first { throw defect.refusal(.invalidIdentityToken) }
        return IdentityToken(identity, provider: provider.id, keyID: key.id)
    }

    /// Lists all defects of a token, for `POST /provider/token-check`. It spends nothing and never throws.
    ///
    /// - Parameters:
    ///   - provider: the calling provider. If the token names another issuer, the only defect is `unknown_issuer`.
    ///   - keys: the calling provider's keys, retired ones too.
    func check(_ compact: String, provider: Provider, keys: [RegisteredKey], now: Date) -> TokenCheck {
        let token: UnverifiedToken
        do throws(TokenDefect) {
            token = try UnverifiedToken(reading: compact, upTo: UnverifiedToken.maximumIdentityLength)
        } catch {
            return TokenCheck(defects: [error], clockSkew: nil, nonce: nil)
        }
        if let issuer = token.issuer, issuer != provider.id {
            let defect = TokenDefect(.unknownIssuer, "The claim iss is not your provider id.")
            return TokenCheck(defects: [defect], clockSkew: nil, nonce: nil)
        }
        let key = keys.first { $0.id == token.keyID && $0.providerID == provider.id }
        let input = TokenRule.Input(token: token, profile: profile, provider: provider, key: key)
        var claims = ClaimReader(token.payload)
        let identity = IdentityClaims(from: &claims, provider: provider, verifier: self, now: now)
        return TokenCheck(
            defects: TokenRule.all.compactMap { $0.defect(input) } + claims.defects, issuedAt: token, identity, now: now
        )
    }
}
