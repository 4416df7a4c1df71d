import Domain
import Encoding
import Foundation

/// The response of an introspection, signed for the provider that requested it (RFC 9701 §5). It is evidence of the
/// response, not an access token: its `typ` differs, and it has no subject.
package struct IntrospectionToken: Sendable {
    package let issuer: String
    /// The provider that requested the introspection (`aud`).
    package let provider: ProviderID
    package let issuedAt: Date
    /// The members of the response in JSON (RFC 7662 §2.2).
    package let answer: JSONValue

    package init(issuer: String, provider: ProviderID, issuedAt: Date, answer: JSONValue) {
        self.issuer = issuer
        self.provider = provider
        self.issuedAt = issuedAt
        self.answer = answer
    }

    package func signed(
        with keys: AccessTokenKeys, algorithm: AccessTokenAlgorithm
    ) throws -> Secret<String> {
        try keys.signed(
            .object([
                "iss": .string(issuer), "aud": .string(provider.description), "iat": .integer(issuedAt.wholeSeconds),
                "token_introspection": answer,
            ]), with: algorithm, type: "token-introspection+jwt")
    }
}
