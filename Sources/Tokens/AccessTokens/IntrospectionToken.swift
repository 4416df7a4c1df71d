import Domain
import Encoding
import Foundation

/// The response of an introspection, signed for the provider that requested it (RFC 9701 §5). It is evidence of the
/// response, not an access token: its `typ` differs, and it has no subject.
package struct IntrospectionToken: Sendable {
    let issuer: String
    /// The provider that requested the introspection (`aud`).
    let provider: ProviderID
    let issuedAt: Date
    /// The response as JSON text, an object (RFC 7662 §2.2).
    let answer: [UInt8]

    package init(issuer: String, provider: ProviderID, issuedAt: Date, answer: [UInt8]) {
        self.issuer = issuer
        self.provider = provider
        self.issuedAt = issuedAt
        self.answer = answer
    }

    package func signed(
        with keys: AccessTokenKeys, algorithm: AccessTokenAlgorithm
    ) throws -> Secret<String> {
        let claims = JSONValue.object([
            "iss": .string(issuer), "aud": .string(provider.description), "iat": .integer(issuedAt.wholeSeconds),
        ])
        // This service wrote the response. The token has it byte for byte.
        let payload = claims.jsonBytes.dropLast() + Array(",\"token_introspection\":".utf8) + answer + Array("}".utf8)
        return try keys.signed(Array(payload), with: algorithm, type: "token-introspection+jwt")
    }
}
