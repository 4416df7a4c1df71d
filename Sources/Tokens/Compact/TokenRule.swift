import Domain
import Encoding

/// One condition on a token, checked before its claims. A verifier stops at the first failure. A report
/// (``IdentityTokenVerifier/check(_:provider:keys:now:)``) lists all of them.
struct TokenRule: Sendable {
    /// A token with its provider and key, if they were found.
    struct Input: Sendable {
        let token: UnverifiedToken
        let profile: TokenProfile
        let provider: Provider?
        let key: RegisteredKey?

        /// Applies the rules of a kind of token; returns the provider and the key if they pass.
        func requireTrust(
            by rules: [TokenRule] = TokenRule.all, refusing code: Refusal.Code
        ) throws(Refusal) -> (Provider, RegisteredKey) {
            for rule in rules {
                if let defect = rule.defect(self) { throw defect.refusal(code) }
            }
            guard let provider, let key else {
                throw TokenDefect(.unknownKey, "The token's key is not known.").refusal(code)
            }
            return (provider, key)
        }
    }

    /// Returns a defect, or `nil`. A rule whose input is missing passes: an earlier rule has reported that.
    let defect: @Sendable (Input) -> TokenDefect?

    /// In the order of the checks. The signature is last, because only it is expensive.
    static let all: [TokenRule] = [
        supportedHeader, type, contentType, issuer, knownKey, activeKey, algorithm, signature,
    ]

    static let supportedHeader = TokenRule { $0.token.header.unsupportedDefect }

    static let type = TokenRule { input in
        input.token.header.typeDefect(required: input.profile.requiresType, among: input.profile.types)
    }

    static let contentType = TokenRule { input in
        guard let expected = input.profile.contentType else { return nil }
        guard let contentType = input.token.header.contentType else {
            return TokenDefect(.wrongType, "The header has no cty. It must be \(expected).")
        }
        return contentType.utf8.elementsEqual(expected.utf8)
            ? nil : TokenDefect(.wrongType, "The header's cty is not \(expected). This is another kind of token.")
    }

    static let issuer = TokenRule { input in
        // The usual case needs no look at the claim: the provider was found by it.
        if let provider = input.provider, provider.id == input.token.issuer, provider.disabledAt == nil { return nil }
        guard let claim = input.token.payload["iss"] else {
            return TokenDefect(.missingClaim, "The claim iss is missing. It must be the provider id.")
        }
        guard claim.text != nil else { return TokenDefect(.malformed, "The claim iss is not a string.") }
        guard let provider = input.provider, provider.id == input.token.issuer else {
            return TokenDefect(.unknownIssuer, "The claim iss is not the id of a registered provider.")
        }
        guard provider.disabledAt == nil else {
            return TokenDefect(.unknownIssuer, "The provider that iss names is disabled.")
        }
        return nil
    }

    static let knownKey = TokenRule { input in
        guard input.token.header.keyID != nil else {
            return TokenDefect(.unknownKey, "The header has no kid. It must be the key id from the registration.")
        }
        guard let key = input.key, key.id == input.token.keyID, key.providerID == input.provider?.id else {
            return TokenDefect(.unknownKey, "The header's kid is not a key of this provider.")
        }
        return nil
    }

    static let activeKey = TokenRule { input in
        input.key?.retired == true
            ? TokenDefect(.keyRetired, "The key that kid names is retired. Sign with an active one.") : nil
    }

    static let algorithm = TokenRule { input in
        guard let key = input.key, input.token.header.algorithm != key.verificationKey.algorithm.rawValue else {
            return nil
        }
        let registered = key.verificationKey.algorithm.rawValue
        return TokenDefect(
            .algorithmMismatch, "The header's alg is not \(registered), for which the key is registered.")
    }

    static let signature = TokenRule { input in
        guard let key = input.key, input.token.header.algorithm == key.verificationKey.algorithm.rawValue,
            !key.verificationKey.isValid(signature: input.token.signature, over: input.token.signingInput)
        else { return nil }
        let form =
            switch key.verificationKey.algorithm {
            case .es256: " For ES256 it is R and S in 64 bytes, not DER."
            case .es384: " For ES384 it is R and S in 96 bytes, not DER."
            case .ps256: " For PS256 the salt has 32 bytes."
            case .rs256, .edDSA: ""
            }
        return TokenDefect(.badSignature, "The signature does not verify with the key that kid names.\(form)")
    }
}
