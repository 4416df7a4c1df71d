import Domain
import Encoding
import Foundation

/// A token for the calls of a provider's backend (RFC 9068). With it the backend need not sign each call.
package struct ProviderAccessToken: Sendable, Equatable {
    package let provider: ProviderID
    /// The provider's key that signed the assertion. The token is valid only while the key is.
    package let keyID: ProviderKeyID
    package let scopes: Set<ProviderScope>
    let identifier: UUID
    let issuedAt: Date
    package let expiresAt: Date

    package init(
        provider: ProviderID, keyID: ProviderKeyID, scopes: Set<ProviderScope>, identifier: UUID, issuedAt: Date,
        expiresAt: Date
    ) {
        self.provider = provider
        self.keyID = keyID
        self.scopes = scopes
        self.identifier = identifier
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

package extension ProviderAccessToken {
    /// The compact JWS. Its audience is the service itself, so no other backend accepts it.
    func signed(with keys: AccessTokenKeys, issuer: String) throws -> Secret<String> {
        try keys.signed(
            .object([
                "iss": .string(issuer), "aud": .string(issuer), "sub": .string(provider.description),
                "client_id": .string(provider.description), "key_id": .string(keyID.description),
                "scope": .string(ProviderScope.text(scopes)), "iat": .integer(issuedAt.wholeSeconds),
                "exp": .integer(expiresAt.wholeSeconds), "jti": .string(identifier.uuidString.lowercased()),
            ]), with: .rs256)
    }

    /// Whether a token claims to be an access token (RFC 9068 §2.1).
    static func isNamed(by token: UnverifiedToken) -> Bool { token.header.type == "at+jwt" }

    /// Verifies a token that the service signed for its own calls.
    ///
    /// - Parameter keys: the keys of all nodes.
    /// - Throws: `Refusal` `provider_token_invalid`; its sentence names the defect.
    init(
        _ token: UnverifiedToken, keys: AccessTokenKeys, issuer: String, now: Date
    ) throws(Refusal) {
        guard Self.isNamed(by: token), token.header.contentType == nil, token.header.algorithm == "RS256",
            let key = keys.key(token.header.keyID), key.isValid(signature: token.signature, over: token.signingInput)
        else { throw Refusal.accessTokenUnknown }
        let claims = token.payload
        guard claims["iss"]?.text == issuer, claims["aud"]?.text == issuer else {
            throw Refusal.accessTokenOfAnotherAudience
        }
        guard let provider = claims["sub"]?.text.flatMap({ ProviderID($0[...]) }),
            let keyID = claims["key_id"]?.text.flatMap({ ProviderKeyID($0[...]) }),
            let scopes = claims["scope"]?.text,
            let identifier = claims["jti"]?.text.flatMap(UUID.init),
            case .integer(let issuedAt)? = claims["iat"], case .integer(let expiresAt)? = claims["exp"]
        else { throw Refusal.accessTokenOfSession }
        let expiry = Date(timeIntervalSince1970: TimeInterval(expiresAt))
        guard now < expiry else { throw Refusal.accessTokenExpired }
        self.init(
            provider: provider, keyID: keyID,
            scopes: Set(scopes.split(separator: " ").compactMap { ProviderScope(rawValue: String($0)) }),
            identifier: identifier, issuedAt: Date(timeIntervalSince1970: TimeInterval(issuedAt)), expiresAt: expiry)
    }
}
