import Domain

/// The reasons of numbers, keys, levels and the service. Those of tokens are in a file of their own.
extension ProblemReason {
    private static func ofPhoneNumber(
        _ reason: Refusal.Reason, _ cause: String, _ mend: String,
        _ body: String = #"{"phone_number":"+12025550123"}"#
    ) -> ProblemReason {
        ProblemReason(.malformedRequest, reason, cause, mend, "POST /phone-verifications", body)
    }

    static let ofPhoneNumbers = [
        ofPhoneNumber(
            .tooManyCharacters, "the phone number has more than 64 characters",
            "Send one number, with little or no punctuation."),
        ofPhoneNumber(
            .regionUnknown, "`region` has no numbering plan: it is a code of ISO 3166-1, or XK, AC or TA",
            "Send two capital letters, such as `US`, or leave `region` out and send the number with + and country code.",
            #"{"phone_number":"(202) 555-0123","region":"US"}"#),
        ofPhoneNumber(
            .regionNeeded, "the phone number is in national form, and the request has no `region`",
            "Add `region`, or send the number with + and country code.",
            #"{"phone_number":"(202) 555-0123","region":"US"}"#),
        ofPhoneNumber(.letters, "the phone number has letters", "Write the number in digits."),
        ofPhoneNumber(.extension, "the phone number has an extension", "Leave the extension out."),
        ofPhoneNumber(
            .notANumber, "the text is not a phone number",
            "Send digits, with + before them and punctuation between them if you like."),
        ofPhoneNumber(
            .unknownCountryCode, "the country calling code is not assigned, or not in use",
            "Have the user correct the digits after the +."),
        ofPhoneNumber(
            .tooShort, "the phone number has too few digits for its numbering plan",
            "Have the user type the whole number, with its area code."),
        ofPhoneNumber(
            .tooLong, "the phone number has too many digits for its numbering plan",
            "Have the user remove digits that do not belong to the number."),
        ofPhoneNumber(
            .notInPlan, "the numbering plan of the country has no such phone number",
            "Have the user look for a mistyped digit."),
    ]

    static let ofTokenRequests = [
        ProblemReason(
            .malformedRequest, .unsupportedGrantType, "the `grant_type` is unknown, or belongs to the other listener",
            "Send a grant of the list in `detail`. Devices request tokens on the client listener, providers on the public "
                + "one.", "POST /token",
            "grant_type=client_credentials&client_assertion_type=<type>&client_assertion=<client assertion>"),
        ProblemReason(
            .malformedRequest, .invalidTarget, "`audience` or `resource` is not one that the caller may name",
            "As a device, send the id of the session's provider, or a URL registered for it. As a provider, leave both out.",
            "POST /token",
            "grant_type=<token exchange>&subject_token=<session token>&subject_token_type=<type>&audience=<provider_id>"
        ),
        ProblemReason(
            .malformedRequest, .invalidScope, "a scope is unknown",
            "Send only scopes of the list in `detail`, with blanks between them.", "POST /token",
            "grant_type=client_credentials&scope=users.read&client_assertion_type=<type>"
                + "&client_assertion=<client assertion>"),
    ]

    private static func ofCertificationRequest(
        _ reason: Refusal.Reason, _ cause: String, _ mend: String, _ more: String = ""
    ) -> ProblemReason {
        let request = #"-----BEGIN CERTIFICATE REQUEST-----\n<base64>\n-----END CERTIFICATE REQUEST-----\n"#
        return ProblemReason(.invalidCSR, reason, cause, mend, "POST /certificates", #"{"csr":"\#(request)"\#(more)}"#)
    }

    static let ofCertificationRequests = [
        ofCertificationRequest(
            .malformed, "`csr` is not a PKCS#10 request in PEM or base64, and not a Layer CSR",
            "Correct what `detail` names. `openssl req -new` makes a request in PEM."),
        ofCertificationRequest(
            .badProof, "the request is not signed with its own key, or by an algorithm that is not supported",
            "Sign the request with the key in it, by ECDSA or RSA (PKCS#1 v1.5) with SHA-256, SHA-384 or SHA-512."),
        ofCertificationRequest(
            .weakKey, "the key is weak",
            "Make a new key: P-256, P-384, or RSA of at least 2048 bits with exponent 65537."),
        ofCertificationRequest(
            .unsupportedKey, "the type or size of the key is not supported",
            "Make a new key: P-256, P-384, or RSA of 2048 to 4096 bits."),
        ofCertificationRequest(
            .keyInUse, "another certificate has the key",
            "Make a new key for this device. To renew a certificate, use `POST /certificates/renewal`."),
        ofCertificationRequest(
            .keyRevoked, "the key was revoked, or the device is banned",
            "Make a new key. If that is refused too, the device is banned."),
        ofCertificationRequest(
            .gate, "the enrolment token, the captcha or the attestation is missing, used before or not valid",
            "Send what the service requires: `GET /` names it as `certification_gate`. Get a new enrolment "
                + "token, captcha or challenge.",
            #","enrolment_token":"<enrolment token>""#),
    ]

    private static func ofProviderKey(_ reason: Refusal.Reason, _ cause: String, _ mend: String) -> ProblemReason {
        ProblemReason(
            .invalidProviderKey, reason, cause, mend, "POST /provider/keys",
            #"{"public_key":"-----BEGIN PUBLIC KEY-----\n<base64>\n-----END PUBLIC KEY-----\n","proof":"<proof>"}"#,
            #"header of the proof: {"alg":"ES256"}"#,
            #"claims of the proof: {"iss":"<provider_id>","iat":1795348800,"exp":1795349100}"#)
    }

    static let ofProviderKeys = [
        ofProviderKey(
            .malformed, "`public_key` is neither one PEM block nor a JWK",
            "Send the public key as PEM, beginning with -----BEGIN PUBLIC KEY-----, or as a JWK object."),
        ofProviderKey(
            .privateKey, "`public_key` is a private key",
            "Regard the key as leaked. Make a new pair, and send only its public key."),
        ofProviderKey(
            .weakKey, "the key is weak",
            "Make a new key: P-256, P-384, Ed25519, or RSA of at least 2048 bits with exponent 65537."),
        ofProviderKey(
            .unsupportedKey, "the type or size of the key, or its algorithm, is not supported",
            "Make a new key: P-256, P-384, Ed25519, or RSA of 2048 to 4096 bits."),
        ofProviderKey(
            .badProof, "`proof` is not a valid JWS by the new key about this provider",
            "Sign the proof with the new key. Set `alg` to its algorithm, and `iss` to your `provider_id`."),
    ]

    static let ofLevels = [
        ProblemReason(
            .notVerified, .caller, "the caller's level is too low",
            "Have the user reach `required_level`: `phone` by `POST /phone-verifications`, a higher level by "
                + "`POST /identity-cards` after that.", "POST /phone-verifications",
            #"{"phone_number":"+12025550123"}"#),
        ProblemReason(
            .notVerified, .partner, "the other user's level is too low",
            "Ask the other user to reach `required_level`, then repeat the call.", "POST /authorizations",
            #"{"id":"<a new UUID>","to":"<user id>"}"#),
    ]

    static let ofService = [
        ProblemReason(
            .unavailable, .outcomeUnknown, "the connection to the store broke during the commit",
            "Read the object to see whether the change was made. A call with an `id` of the app's can be repeated safely.",
            "POST /streams/{id}/events",
            #"{"id":"<the same UUID>","parts":[{"type":"text/plain","body":"<the same text>"}]}"#),
        ProblemReason(
            .unavailable, .storeMoved, "the store of this node was moved to another place",
            "Open a new connection, which reaches another node, and repeat the call.", "GET /sessions/current"),
    ]
}
