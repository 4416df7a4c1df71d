import Crypto
import Domain
import Encoding
import Foundation

/// A backend's bearer token (RFC 6750) whose signature and claims hold: made once by the provider, used for many reads.
package struct ProviderToken: Sendable, Equatable {
    /// Whose backend it is (`iss`).
    package let provider: ProviderID
    /// The key that signed (`kid`).
    package let keyID: ProviderKeyID
    /// When it was made (`iat`).
    package let issuedAt: Date
    /// Until when it is valid (`exp`), at most an hour later.
    package let expiresAt: Date
}

/// A backend's token for one call that changes keys or webhooks: young, named, and bound to the request.
package struct FreshProviderToken: Sendable, Equatable {
    /// Whose it is, and its times.
    package let token: ProviderToken
    /// Its name (`jti`, RFC 7519 §4.1.7), 1 to 128 bytes: to be accepted once for each provider.
    package let identifier: String
    /// Until when its name must be remembered: before that moment the token itself could be accepted again.
    package let rememberUntil: Date
}

/// A device's leave to be certified, given by a provider. Its name is spent in the transaction that issues.
package struct EnrolmentToken: Sendable, Equatable {
    /// Who gave it (`iss`).
    package let provider: ProviderID
    /// The key that signed (`kid`).
    package let keyID: ProviderKeyID
    /// Its name (`jti`), 1 to 128 bytes: to be accepted once for each provider.
    package let identifier: String
    /// When it was made (`iat`).
    package let issuedAt: Date
    /// Until when it is valid (`exp`), at most ten minutes later.
    package let expiresAt: Date
    /// Until when its name must be remembered.
    package let rememberUntil: Date
}

/// Turns an ``UnverifiedToken`` into what a provider's backend may be trusted with, or says why not.
///
/// The caller looks up what ``UnverifiedToken/issuer`` and ``UnverifiedToken/keyID`` name, as for identity tokens.
package struct ProviderTokenVerifier: Sendable {
    /// What `aud` must name.
    package let realm: String
    /// How far a provider's clock may be off, in seconds.
    package let clockSkew: TimeInterval

    package init(realm: String, clockSkew: TimeInterval = 60) {
        self.realm = realm
        self.clockSkew = clockSkew
    }

    /// Verifies a bearer token.
    ///
    /// - Throws: `Refusal` `provider_token_invalid`, its sentence saying what is wrong.
    package func verify(
        _ token: UnverifiedToken, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> ProviderToken {
        let input = TokenRule.Input(token: token, profile: .provider, provider: provider, key: key)
        var claims = ClaimReader(token.payload)
        return try self.token(input, &claims, now: now)
    }

    /// Verifies a token for one call that changes something: `exp − iat` at most 60 s, `jti`, `htm` and `htu`, the request's
    /// method and target URI (RFC 9449 §4.2), and `body_sha256`, the base64url SHA-256 of its body (of no bytes where it
    /// has none).
    ///
    /// - Throws: `Refusal` `provider_token_invalid`, its sentence saying what is wrong.
    package func verifyFresh(
        _ token: UnverifiedToken, request: ProvenRequest, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> FreshProviderToken {
        let input = TokenRule.Input(token: token, profile: .freshProvider, provider: provider, key: key)
        var claims = ClaimReader(token.payload)
        let identifier = claims.text("jti", bytes: 1...128)
        let method = claims.text("htm", bytes: 1...16)
        let target = claims.text("htu", bytes: 1...2048)
        let bodyDigest = claims.text("body_sha256", bytes: 43...43)
        if claims.defects.isEmpty {
            if method != request.method {
                claims.note(.malformed, "The claim htm is not the method of this request.")
            } else if !request.isTarget(target) {
                claims.note(.malformed, "The claim htu is not the https URL of this request, without its query.")
            } else if bodyDigest != Digest256.of(request.body).base64URL {
                claims.note(.malformed, "The claim body_sha256 is not the base64url SHA-256 of this request's body.")
            }
        }
        let verified = try self.token(input, &claims, now: now)
        return FreshProviderToken(
            token: verified, identifier: identifier, rememberUntil: verified.expiresAt.addingTimeInterval(clockSkew))
    }

    /// Verifies an enrolment token: `exp − iat` at most ten minutes, and `jti`.
    ///
    /// - Throws: `Refusal` `invalid_csr` with reason `gate`, its sentence saying what is wrong.
    package func verifyEnrolment(
        _ token: UnverifiedToken, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> EnrolmentToken {
        let input = TokenRule.Input(token: token, profile: .enrolment, provider: provider, key: key)
        var claims = ClaimReader(token.payload)
        let identifier = claims.text("jti", bytes: 1...128)
        let verified: ProviderToken
        do throws(Refusal) {
            verified = try self.token(input, &claims, now: now)
        } catch {
            throw Refusal(.invalidCSR, "The enrolment token does not count. \(error.detail)", reason: .gate)
        }
        return EnrolmentToken(
            provider: verified.provider, keyID: verified.keyID, identifier: identifier, issuedAt: verified.issuedAt,
            expiresAt: verified.expiresAt, rememberUntil: verified.expiresAt.addingTimeInterval(clockSkew))
    }

    /// Applies the rules, then what all three kinds claim; the reader may hold defects of a kind's own claims already.
    private func token(
        _ input: TokenRule.Input, _ claims: inout ClaimReader, now: Date
    ) throws(Refusal) -> ProviderToken {
        let (provider, key) = try input.requireTrust(refusing: .providerTokenInvalid)
        let profile = input.profile
        let validity = claims.validity(now: now, clockSkew: clockSkew, maximumLifetime: profile.maximumLifetime)
        claims.audience(realm: realm, required: profile.requiresAudience)
        if let defect = claims.defects.first { throw defect.refusal(.providerTokenInvalid) }
        return ProviderToken(
            provider: provider.id, keyID: key.id, issuedAt: validity.issuedAt, expiresAt: validity.expiresAt)
    }
}
