import Encoding
import PhoneNumbers

package extension Refusal {
    /// The reason under a refusal's code; the raw values are the contract's.
    enum Reason: String, Sendable, CaseIterable {
        // Identity tokens and presence proofs.

        /// Not a compact JWS of two JSON objects, or a claim of the wrong type or form. Also for malformed keys and
        /// requests.
        case malformed
        /// The header carries `crit`, `b64`, `zip`, or a key of its own (`jwk`).
        case unsupportedHeader = "unsupported_header"
        /// `typ` or `cty` names another kind of token.
        case wrongType = "wrong_type"
        /// `iss` names no registered and enabled provider.
        case unknownIssuer = "unknown_issuer"
        /// `kid` names no key of that provider.
        case unknownKey = "unknown_key"
        /// The key was retired or revoked.
        case keyRetired = "key_retired"
        /// `alg` is not the registered algorithm of the key.
        case algorithmMismatch = "algorithm_mismatch"
        /// The signature does not verify with that key.
        case badSignature = "bad_signature"
        /// A required claim is missing.
        case missingClaim = "missing_claim"
        /// The time in `exp` has passed.
        case expired
        /// `iat` or `nbf` is in the future.
        case notYetValid = "not_yet_valid"
        /// `exp − iat` exceeds the policy's limit.
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
        /// The user forbids the app.
        case appForbidden = "app_forbidden"
        /// A presence proof is required, and the request has none.
        case missing
        /// The captcha in the request was not accepted.
        case captcha

        // Requests for tokens (RFC 6749 §5.2, RFC 8693 §2.2.2).

        /// The `grant_type` is unknown, or belongs to the other listener.
        case unsupportedGrantType = "unsupported_grant_type"
        /// The `audience` is not the session's provider.
        case invalidTarget = "invalid_target"
        case invalidScope = "invalid_scope"

        // Security events of providers (SSF 1.0 §8.1.4.2).

        /// A verification that was not requested has a `state`.
        case unexpectedState = "unexpected_state"

        // Keys and certification requests.

        /// The signature of a request or a proof does not verify with the key in it.
        case badProof = "bad_proof"
        case weakKey = "weak_key"
        case unsupportedKey = "unsupported_key"
        /// A private key was sent; the caller must treat it as compromised.
        case privateKey = "private_key"
        /// Another certificate carries the key.
        case keyInUse = "key_in_use"
        case keyRevoked = "key_revoked"
        /// The requester did not pass the certification gate.
        case gate

        // Authorizations to message: the user whose level is too low.

        case caller
        case partner

        // What wallets present, as ``PresentationDefect`` describes it.

        case undecryptable
        case wrongKey = "wrong_key"
        case notAsked = "not_asked"
        case incomplete
        case surplus
        case mixed
        case issuerCertificate = "issuer_certificate"
        case issuerSignature = "issuer_signature"
        case digest
        case revoked
        case suspended
        case statusUnknown = "status_unknown"
        case unbound
        case deviceSignature = "device_signature"
        case replayed
        case documentExpired = "document_expired"

        // Stores.

        /// The commit was sent, and its result did not arrive.
        case outcomeUnknown = "outcome_unknown"
        /// The store of this node was moved to another place.
        case storeMoved = "store_moved"
        /// Nodes still serve the store that is to be moved.
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
    }

    /// The part of the request, or the call, that a sentence concerns. The web layer names the member or the path, the
    /// command line the flag.
    enum Subject: Sendable, CaseIterable {
        case algorithm, applicationID, barcode, callEndpoint, captcha, enrolmentToken, eventID, findableAddress
        case language, machineReadableZone, presence, presenceKey, pushEndpoint, recipient, webhookURL
        /// The page or app that calls a wallet, the address to which a wallet returns, and the protocol.
        case origin, returnAddress, walletProtocol
        /// The id that the caller chose for a new object.
        case newID
        /// The blinded numbers of contacts.
        case blindedNumbers
        case messageParts, messageStorage, notificationBody, notificationData
        /// The message that a reply refers to.
        case repliedMessage
        case streamDescription, streamImage, streamKind, streamMembers, streamMetadata, title
        /// The merge patch for the metadata of a stream.
        case metadataPatch
        /// The new metadata of a stream.
        case newMetadata
        /// The id of an app, as OAuth's `client_id`.
        case clientID
        /// The clients that may request ID tokens for a provider.
        case parties
        /// The push address of a stream of events.
        case streamURL
        /// Names and notes from an operator.
        case account, audience, name, note, party, reason
        /// The call that lists the authorizations of a user.
        case authorizations
        /// The call that starts a phone verification.
        case phoneVerification
        /// The short name of a provider, which the operator may choose.
        case slug
        /// The place in a list where its next page starts.
        case cursor
    }
}

package extension Refusal.Reason {
    init(_ reason: PublicKeyDefect.Reason) {
        self =
            switch reason {
            case .malformed: .malformed
            case .privateKey: .privateKey
            case .weakKey: .weakKey
            case .unsupportedKey: .unsupportedKey
            }
    }

    init(_ defect: PhoneNumberDefect) {
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

    /// The reasons that an identity token can be refused for.
    static let ofIdentityTokens: [Self] = [
        .malformed, .unsupportedHeader, .wrongType, .unknownIssuer, .unknownKey, .keyRetired, .algorithmMismatch,
        .badSignature, .missingClaim, .expired, .notYetValid, .lifetimeTooLong, .wrongAudience, .nonceUnknown,
        .nonceExpired, .nonceUsed, .nonceOtherDevice,
    ]
}
