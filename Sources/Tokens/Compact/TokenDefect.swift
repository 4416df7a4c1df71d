import Domain

/// What can be wrong with an identity token, in the contract's words.
package enum IdentityTokenDefect: String, Sendable, CaseIterable {
    /// Not a compact JWS of two JSON objects, or a claim of the wrong type or form.
    case malformed
    /// The header carries `crit`, `b64`, `zip`, or a key of its own (`jwk`, `jku`, `x5u`, `x5c`).
    case unsupportedHeader = "unsupported_header"
    /// `typ` or `cty` name another kind of token.
    case wrongType = "wrong_type"
    /// `iss` is no provider that is registered and enabled.
    case unknownIssuer = "unknown_issuer"
    /// `kid` is no key of that provider.
    case unknownKey = "unknown_key"
    /// The key was retired or revoked.
    case keyRetired = "key_retired"
    /// `alg` is not the algorithm of the key's registration.
    case algorithmMismatch = "algorithm_mismatch"
    /// The signature is not that key's over this token.
    case badSignature = "bad_signature"
    /// A claim that must be there is not.
    case missingClaim = "missing_claim"
    /// `exp` has passed.
    case expired
    /// `iat` or `nbf` lie in the future.
    case notYetValid = "not_yet_valid"
    /// `exp − iat` is more than policy allows.
    case lifetimeTooLong = "lifetime_too_long"
    /// `aud` does not name this realm.
    case wrongAudience = "wrong_audience"
    /// This service did not issue the nonce.
    case nonceUnknown = "nonce_unknown"
    case nonceExpired = "nonce_expired"
    /// The nonce was spent before.
    case nonceUsed = "nonce_used"
    /// The nonce was issued to another device certificate.
    case nonceOtherDevice = "nonce_other_device"
}

/// One thing that is wrong with a token, and the sentence that helps its maker.
package struct TokenDefect: Error, Sendable, Equatable {
    package let reason: IdentityTokenDefect
    /// One sentence: names the header parameter or claim, and by how much it is off.
    package let detail: String

    package init(_ reason: IdentityTokenDefect, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// What the caller is told under some code. Identity tokens, and presence proofs after them, have a fixed reason.
    func refusal(_ code: Refusal.Code) -> Refusal {
        switch code {
        case .invalidIdentityToken, .invalidPresenceProof: Refusal(code, detail, reason: reason.rawValue)
        case .invalidCSR: Refusal(code, detail, reason: "malformed")
        case .invalidProviderKey: Refusal(code, detail, reason: "bad_proof")
        default: Refusal(code, detail)
        }
    }
}
