import Domain
import Encoding
import Foundation

/// Turns an ID token of an OpenID provider (OpenID Connect Core 1.0 §2, §3.1.3.7) into an ``IdentityToken``, or refuses
/// it with a reason.
///
/// Neither kind is accepted in place of the other. An identity token must have a `cty` and names its provider by id. An
/// ID token has none and names an issuer by URL. Each is verified only with the keys of its kind.
package struct IDTokenVerifier: Sendable {
    /// The largest accepted difference of an issuer's clock, in seconds.
    let clockSkew: TimeInterval

    /// The largest age, `iat` to now, in seconds. The nonce lives no longer.
    static let maximumAge: TimeInterval = 600
    /// The longest `exp − iat`, in seconds.
    static let maximumLifetime: TimeInterval = 86_400

    package init(clockSkew: TimeInterval = 60) {
        self.clockSkew = clockSkew
    }
}

package extension IDTokenVerifier {
    /// Whether a token claims to be an ID token of an issuer. A token without such a claim is verified as an identity
    /// token.
    static func isNamed(by token: UnverifiedToken) -> Bool {
        token.issuer == nil && token.header.contentType == nil && (token.issuerURL?.contains("://") ?? false)
    }

    private static let profile = TokenProfile(
        contentType: nil, requiresType: false, types: ["JWT"], requiresAudience: true,
        maximumLifetime: maximumLifetime)

    private static let rules: [TokenRule] = [
        .supportedHeader, .type, .noContentType, .issuerURL, .issuerKey, .activeKey, .algorithm, .signature,
    ]

    /// Verifies a token.
    ///
    /// - Parameters:
    ///   - provider: the provider of the token's issuer and audience, or another of that issuer; `nil` if there is none.
    ///   - key: the key of the issuer that the token's `kid` names, `nil` if there is none.
    /// - Throws: `Refusal` `invalid_identity_token`, its reason one of `Refusal.Reason.ofIdentityTokens`.
    func verify(
        _ token: UnverifiedToken, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> IdentityToken {
        let input = TokenRule.Input(token: token, profile: Self.profile, provider: provider, key: key)
        let (provider, key) = try input.requireTrust(by: Self.rules, refusing: .invalidIdentityToken)
        var claims = ClaimReader(token.payload)
        let identity = IdentityClaims(ofIDToken: &claims, provider: provider, clockSkew: clockSkew, now: now)
        if let defect = claims.defects.first { throw defect.refusal(.invalidIdentityToken) }
        return IdentityToken(identity, provider: provider.id, keyID: key.id)
    }

    /// Lists all defects of a token, for `POST /provider/token-check`.
    ///
    /// - Parameters:
    ///   - provider: the calling provider. If the token names another issuer, the only defect is `unknown_issuer`.
    ///   - key: the key of the provider's issuer that the token's `kid` names.
    func check(
        _ token: UnverifiedToken, provider: Provider, key: RegisteredKey?, now: Date
    ) -> TokenCheck {
        let input = TokenRule.Input(token: token, profile: Self.profile, provider: provider, key: key)
        if let defect = TokenRule.issuerURL.defect(input) {
            return TokenCheck(defects: [defect], clockSkew: nil, nonce: nil)
        }
        var claims = ClaimReader(token.payload)
        let identity = IdentityClaims(ofIDToken: &claims, provider: provider, clockSkew: clockSkew, now: now)
        return TokenCheck(
            defects: Self.rules.compactMap { $0.defect(input) } + claims.defects, issuedAt: token, identity, now: now)
    }
}

extension TokenRule {
    /// An ID token is a plain JWT: with a `cty` it is nested, or one of this service's own kinds.
    fileprivate static let noContentType = TokenRule { input in
        input.token.header.contentType == nil
            ? nil : TokenDefect(.wrongType, "The header has a cty. Remove it: an ID token has none.")
    }

    fileprivate static let issuerURL = TokenRule { input in
        guard let issuer = input.provider?.issuer else {
            return TokenDefect(.unknownIssuer, "The claim iss is not the URL of a registered issuer.")
        }
        guard input.token.issuerURL?.utf8.elementsEqual(issuer.url.utf8) ?? false else {
            return TokenDefect(
                .unknownIssuer,
                "The claim iss must be exactly \(issuer.url), the issuer of this provider.")
        }
        return input.provider?.disabledAt == nil
            ? nil : TokenDefect(.unknownIssuer, "The provider of the issuer that iss names is disabled.")
    }

    fileprivate static let issuerKey = TokenRule { input in
        if let key = input.key, key.providerID == input.provider?.id { return nil }
        return input.token.header.keyID == nil
            ? TokenDefect(
                .unknownKey,
                "The header has no kid, and the issuer's key set does not have exactly one key of its alg.")
            : TokenDefect(.unknownKey, "The header's kid is not in the issuer's key set.")
    }
}

extension IdentityClaims {
    /// Reads the claims of an ID token.
    init(ofIDToken claims: inout ClaimReader, provider: Provider, clockSkew: TimeInterval, now: Date) {
        externalID = claims.text("sub", bytes: 1...256)
        nonce = claims.text("nonce", bytes: 1...256)
        validity = claims.validity(
            now: now, clockSkew: clockSkew, maximumLifetime: IDTokenVerifier.maximumLifetime)
        let age = now.timeIntervalSince(validity.issuedAt)
        if validity.issuedAt != .distantPast, age > IDTokenVerifier.maximumAge + clockSkew {
            claims.note(
                .expired,
                "The claim iat was \(Int(saturating: age.rounded(.up))) s ago: an ID token signs in for "
                    + "\(Int(saturating: IDTokenVerifier.maximumAge)) s.")
        }
        party = claims.party(of: provider.issuer)
        if claims.has("events") {
            claims.note(.wrongType, "The token has events: it is a security event or a logout token, not an ID token.")
        }
        applicationID = nil
        displayName = claims.displayName("name")
        avatarURL = claims.avatar("picture", of: provider)
        ignored = claims.ignored
    }
}
