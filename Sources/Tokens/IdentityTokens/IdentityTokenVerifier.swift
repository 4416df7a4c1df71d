import Domain
import Encoding
import Foundation

/// Turns an ``UnverifiedToken`` into an ``IdentityToken``, or says why not.
///
/// The caller looks up what ``UnverifiedToken/issuer`` and ``UnverifiedToken/keyID`` name, then asks for the verification.
/// Claims are checked only once the signature holds, so that nobody learns anything by forging.
package struct IdentityTokenVerifier: Sendable {
    /// What `aud` must name.
    package let realm: String
    /// How far a provider's clock may be off, in seconds.
    package let clockSkew: TimeInterval
    /// The longest `exp − iat`, in seconds; 24 hours is the ceiling, whatever is asked for.
    package let maximumLifetime: TimeInterval
    let profile: TokenProfile

    package init(realm: String, clockSkew: TimeInterval = 60, maximumLifetime: TimeInterval = 600) {
        profile = .identity(maximumLifetime: maximumLifetime)
        self.realm = realm
        self.clockSkew = clockSkew
        self.maximumLifetime = profile.maximumLifetime
    }

    /// Takes the rules from policy.
    package init(realm: String, policy: IdentityTokenPolicy) {
        self.init(realm: realm, clockSkew: policy.clockSkew, maximumLifetime: policy.maximumLifetime)
    }

    /// Verifies a token.
    ///
    /// - Parameters:
    ///   - provider: the provider that the token's `iss` names, `nil` if there is none.
    ///   - key: the key that the token's `kid` names, `nil` if there is none.
    /// - Throws: `Refusal` `invalid_identity_token`, its reason one of `Refusal.Reason.ofIdentityTokens`.
    package func verify(
        _ token: UnverifiedToken, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> IdentityToken {
        let input = TokenRule.Input(token: token, profile: profile, provider: provider, key: key)
        let (provider, key) = try input.requireTrust(refusing: .invalidIdentityToken)
        var claims = ClaimReader(token.payload)
        let identity = IdentityClaims(from: &claims, provider: provider, verifier: self, now: now)
        if let defect = claims.defects.first { throw defect.refusal(.invalidIdentityToken) }
        return IdentityToken(identity, provider: provider.id, keyID: key.id)
    }

    /// Lists everything that is wrong with a token, for `POST /provider/token-check`: spends nothing, never throws.
    ///
    /// - Parameters:
    ///   - provider: who asks. Of a token that names another issuer it is told `unknown_issuer` and nothing else.
    ///   - keys: the asking provider's keys, retired ones too.
    package func check(_ compact: String, provider: Provider, keys: [RegisteredKey], now: Date) -> TokenCheck {
        let token: UnverifiedToken
        do throws(TokenDefect) {
            token = try UnverifiedToken(reading: compact)
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
        var silent = ClaimReader(token.payload)
        let issuedAt = silent.date("iat", required: false)
        return TokenCheck(
            defects: TokenRule.all.compactMap { $0.defect(input) } + claims.defects,
            clockSkew: issuedAt.map { Int(saturating: $0.timeIntervalSince(now).rounded()) },
            nonce: identity.nonce.isEmpty ? nil : identity.nonce)
    }
}
