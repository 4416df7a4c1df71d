import Encoding
import PhoneNumbers

extension Refusal {
    /// A finer word under a code; the raw values are the contract's.
    package enum Reason: String, Sendable, CaseIterable {
        // Identity tokens, and presence proofs after them.

        /// Not a compact JWS of two JSON objects, or a claim of the wrong type or form; or no key or request of its form.
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
        /// The service wants a presence proof, and there is none.
        case missing

        // Keys and certification requests.

        /// The signature of a request or a proof is not by the key that it carries.
        case badProof = "bad_proof"
        case weakKey = "weak_key"
        case unsupportedKey = "unsupported_key"
        /// A private key was sent, and must be regarded as leaked.
        case privateKey = "private_key"
        /// Another certificate carries the key.
        case keyInUse = "key_in_use"
        case keyRevoked = "key_revoked"
        /// The gate of certification did not open.
        case gate

        // Permissions to talk: whose level is too low.

        case caller
        case partner

        // Stores.

        /// The commit was sent, and its answer did not come.
        case outcomeUnknown = "outcome_unknown"
        /// The store of this node was moved to another place.
        case storeMoved = "store_moved"
        /// Nodes serve the store that is to be moved.
        case nodesLive = "nodes_live"

        // Telephone numbers.

        case tooManyCharacters = "too_many_characters"
        case regionUnknown = "region_unknown"
        case regionNeeded = "region_needed"
        case letters
        case `extension`
        case notANumber = "not_a_number"
        case unknownCountryCode = "unknown_country_code"
        case tooShort = "too_short"
        case tooLong = "too_long"
        case notInPlan = "not_in_plan"

        /// What can be wrong with an identity token.
        package static let ofIdentityTokens: [Reason] = [
            .malformed, .unsupportedHeader, .wrongType, .unknownIssuer, .unknownKey, .keyRetired, .algorithmMismatch,
            .badSignature, .missingClaim, .expired, .notYetValid, .lifetimeTooLong, .wrongAudience, .nonceUnknown,
            .nonceExpired, .nonceUsed, .nonceOtherDevice,
        ]
    }
}

extension Refusal.Reason {
    package init(_ reason: PublicKeyDefect.Reason) {
        self =
            switch reason {
            case .malformed: .malformed
            case .privateKey: .privateKey
            case .weakKey: .weakKey
            case .unsupportedKey: .unsupportedKey
            }
    }

    package init(_ defect: PhoneNumberDefect) {
        self =
            switch defect {
            case .tooManyCharacters: .tooManyCharacters
            case .regionUnknown: .regionUnknown
            case .regionNeeded: .regionNeeded
            case .letters: .letters
            case .extension: .extension
            case .notANumber: .notANumber
            case .unknownCountryCode: .unknownCountryCode
            case .tooShort: .tooShort
            case .tooLong: .tooLong
            case .notInPlan: .notInPlan
            }
    }
}

extension Refusal {
    /// What of the request, or which call, a sentence is about. The web layer names the member or the path, the command
    /// line the flag.
    package enum Subject: Sendable, CaseIterable {
        case algorithm, applicationID, authorizationID, barcode, captcha, enrolmentToken, eventID, presence, presenceKey
        case pushEndpoint, recipient, webhookURL
        /// The call that lists the authorizations of a user.
        case authorizations
        /// The call that proves a phone number.
        case phoneVerification
        /// The short name of a provider, which the operator may choose.
        case slug
    }
}
