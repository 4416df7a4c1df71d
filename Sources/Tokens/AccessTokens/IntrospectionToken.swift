import Domain
import Encoding
import Foundation

/// The answer of an introspection, signed for the provider that asked (RFC 9701 §5). It is evidence of the answer, and no
/// access token: `typ` and the lack of a subject tell it from one.
package struct IntrospectionToken: Sendable {
    package let issuer: String
    /// The provider that asked (`aud`).
    package let provider: ProviderID
    package let issuedAt: Date
    /// The members of the answer in JSON (RFC 7662 §2.2).
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
