import Domain
import Foundation

/// A provider's proof of itself in a form: `client_assertion` (RFC 7523 §2.2, `private_key_jwt`).
package struct ClientAssertion: Sendable, Equatable {
    /// The provider (`iss` and `sub`).
    package let provider: ProviderID
    /// The key that signed it (`kid`).
    package let keyID: ProviderKeyID
    /// Its id (`jti`), 1 to 128 bytes. Each id is accepted once for each provider.
    package let identifier: String
    /// How long its id must be remembered.
    package let rememberUntil: Date

    /// The `client_assertion_type` (RFC 7523 §2.2).
    package static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The largest age in seconds. Libraries give assertions an hour by default; here `iat` limits them further.
    static let maximumAge: TimeInterval = 300
}

package extension ProviderTokenVerifier {
    /// Verifies a client assertion: `iss` and `sub` the provider id, `aud` only this service, `jti`, `iat` and `exp`.
    /// It is valid for five minutes from `iat`, or until `exp` if that is sooner.
    ///
    /// - Parameter audiences: the issuer and the token endpoint.
    /// - Throws: `Refusal` `provider_token_invalid`; its sentence names the defect.
    func verifyAssertion(
        _ token: UnverifiedToken, audiences: [String], provider: Provider?, key: RegisteredKey?, now: Date
    ) throws(Refusal) -> ClientAssertion {
        let input = TokenRule.Input(token: token, profile: .clientAssertion, provider: provider, key: key)
        let (provider, key) = try input.requireTrust(refusing: .providerTokenInvalid)
        var claims = ClaimReader(token.payload)
        if token.header.contentType != nil {
            claims.note(.wrongType, "The header has a cty. Remove it: a client assertion has none.")
        }
        let subject = claims.text("sub", bytes: 36...36)
        if claims.defects.isEmpty, ProviderID(subject[...]) != provider.id {
            claims.note(.malformed, "The claim sub is not the provider id. It must be equal to iss.")
        }
        let identifier = claims.text("jti", bytes: 1...128)
        claims.audience(among: audiences, required: true, alone: true)
        let validity = claims.validity(
            now: now, clockSkew: clockSkew, maximumLifetime: TokenProfile.clientAssertion.maximumLifetime)
        let issuedAt = claims.issued(now: now, clockSkew: clockSkew, maximumAge: ClientAssertion.maximumAge)
        if let defect = claims.defects.first { throw defect.refusal(.providerTokenInvalid) }
        let end = min(validity.expiresAt, issuedAt.addingTimeInterval(ClientAssertion.maximumAge))
        return ClientAssertion(
            provider: provider.id, keyID: key.id, identifier: identifier,
            rememberUntil: end.addingTimeInterval(clockSkew))
    }
}
