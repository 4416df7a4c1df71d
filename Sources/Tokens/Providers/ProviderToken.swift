import Crypto
import Domain
import Encoding
import Foundation

/// A backend's bearer token (RFC 6750) with a valid signature and claims. A provider issues it once for many reads.
package struct ProviderToken: Sendable, Equatable {
    /// The provider whose backend it is (`iss`).
    package let provider: ProviderID
    /// The key that signed it (`kid`).
    package let keyID: ProviderKeyID
    /// When it was issued (`iat`).
    let issuedAt: Date
    /// When it expires (`exp`), at most an hour later.
    package let expiresAt: Date
    /// Whether it names a request (`htm`, `htu`, `body_sha256`) and is valid only for that one.
    package let isForOneRequest: Bool
}

/// A provider's permission to certify a device. Its id is spent in the transaction that issues the certificate.
package struct EnrolmentToken: Sendable, Equatable {
    /// The provider that issued it (`iss`).
    package let provider: ProviderID
    /// The key that signed it (`kid`).
    let keyID: ProviderKeyID
    /// Its id (`jti`), 1 to 128 bytes. Each id is accepted once for each provider.
    package let identifier: String
    /// When it was issued (`iat`).
    let issuedAt: Date
    /// When it expires (`exp`), at most ten minutes later.
    let expiresAt: Date
    /// How long its id must be remembered.
    package let rememberUntil: Date
}

/// Turns an ``UnverifiedToken`` into a token of a provider's backend, or refuses it with a reason.
///
/// The caller looks up ``UnverifiedToken/issuer`` and ``UnverifiedToken/keyID``, as for identity tokens.
package struct ProviderTokenVerifier: Sendable {
    /// The realm that `aud` must name.
    let realm: String
    /// The largest accepted difference of a provider's clock, in seconds.
    let clockSkew: TimeInterval

    package init(realm: String, clockSkew: TimeInterval = 60) {
        self.realm = realm
        self.clockSkew = clockSkew
    }
}

package extension ProviderTokenVerifier {
    /// Verifies a bearer token. A token that names a request, as a fresh proof does, is valid only for that request.
    ///
    /// - Parameter request: the current request. Its body is not compared, because bearer tokens are read before the
    ///   body.
    /// - Throws: `Refusal` `provider_token_invalid`; its sentence names the defect.
    func verify(
        _ token: UnverifiedToken, with request: ProvenRequest, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> ProviderToken {
        let input = TokenRule.Input(token: token, profile: .provider, provider: provider, key: key)
        var claims = ClaimReader(token.payload)
        let method = claims.optionalText("htm", bytes: 1...16)
        let target = claims.optionalText("htu", bytes: 1...2048)
        if let method, method != request.method {
            claims.note(.malformed, "The token is for another request: htm is not the method of this one.")
        }
        if let target, !request.isTarget(target) {
            claims.note(.malformed, "The token is for another request: htu is not the URL of this one.")
        }
        return try self.token(input, &claims, now: now)
    }

    /// Verifies a token for one call that changes something. `exp − iat` is at most 60 s. `jti`, `htm` and `htu` are
    /// required: the id, and the request's method and target URI (RFC 9449 §4.2). `body_sha256` is the base64url
    /// SHA-256 of the request's body, or of no bytes if there is none.
    ///
    /// - Returns: the provider, the key and the times; the id (`jti`, RFC 7519 §4.1.7), 1 to 128 bytes, which is accepted
    ///   once for each provider; and until when the id must be remembered, because the token would be accepted again.
    /// - Throws: `Refusal` `provider_token_invalid`; its sentence names the defect.
    func verifyFresh(
        _ token: UnverifiedToken, request: ProvenRequest, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> (token: ProviderToken, identifier: String, rememberUntil: Date) {
        let input = TokenRule.Input(token: token, profile: .freshProvider, provider: provider, key: key)
        var claims = ClaimReader(token.payload)
        let missing = ["jti", "htm", "htu", "body_sha256"].filter { !claims.has($0) }
        if !missing.isEmpty {
            claims.note(
                .missingClaim,
                "This call needs a fresh token, made for it alone. Add \(missing.joined(separator: ", ")), and sign a new one "
                    + "for each request.")
        }
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
        return (verified, identifier, verified.expiresAt.addingTimeInterval(clockSkew))
    }

    /// Verifies an enrolment token: `exp − iat` at most ten minutes, and `jti`.
    ///
    /// - Throws: `Refusal` `invalid_csr` with reason `gate`; its sentence names the defect.
    func verifyEnrolment(
        _ token: UnverifiedToken, provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> EnrolmentToken {
        let input = TokenRule.Input(token: token, profile: .enrolment, provider: provider, key: key)
        var claims = ClaimReader(token.payload)
        let identifier = claims.text("jti", bytes: 1...128)
        let verified: ProviderToken
        do throws(Refusal) {
            verified = try self.token(input, &claims, now: now)
        } catch {
            throw Refusal.enrolmentTokenInvalid(error.detail)
        }
        return EnrolmentToken(
            provider: verified.provider, keyID: verified.keyID, identifier: identifier, issuedAt: verified.issuedAt,
            expiresAt: verified.expiresAt, rememberUntil: verified.expiresAt.addingTimeInterval(clockSkew))
    }

    /// Applies the rules, then checks the claims of all three kinds. The reader may already have defects of other
    /// claims.
    private func token(
        _ input: TokenRule.Input, _ claims: inout ClaimReader, now: Date
    ) throws(Refusal) -> ProviderToken {
        let (provider, key) = try input.requireTrust(refusing: .providerTokenInvalid)
        let profile = input.profile
        let validity = claims.validity(now: now, clockSkew: clockSkew, maximumLifetime: profile.maximumLifetime)
        claims.audience(realm: realm, required: profile.requiresAudience)
        if let defect = claims.defects.first { throw defect.refusal(.providerTokenInvalid) }
        return ProviderToken(
            provider: provider.id, keyID: key.id, issuedAt: validity.issuedAt, expiresAt: validity.expiresAt,
            isForOneRequest: ["htm", "htu", "body_sha256"].contains { claims.has($0) })
    }
}
