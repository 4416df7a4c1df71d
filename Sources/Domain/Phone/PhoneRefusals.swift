import PhoneNumbers

/// Refusals of phone numbers and their verification.
package extension Refusal {
    static func unreadableNumber(_ defect: PhoneNumberDefect) -> Refusal {
        Refusal(.malformedRequest, defect.sentence, reason: Reason(defect))
    }

    /// The refusal of a number without `+` to a caller that cannot name a region.
    static let nationalForm = Refusal(
        .malformedRequest, "Write the telephone number with + and its country calling code, such as +12025550123.",
        reason: .regionNeeded)

    static let phoneRequired = Refusal(
        .conflict, "This requires a verified phone number. Verify one first.", about: .phoneVerification,
        state: Assurance.none.rawValue)

    static let unknownVerification = Refusal(
        .notFound, "This user has no such verification on this device. Check the id, or start another verification.")

    static func verificationIsOver(state: String) -> Refusal {
        Refusal(.conflict, "The verification has ended. Start another one.", state: state)
    }

    static let resendsExhausted = Refusal(
        .conflict, "The code was sent as often as allowed. Start another verification later.", state: "no_more_resends")

    static func resendTooSoon(retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "The code was sent just now. Request it again in \(retryAfter) s.", retryAfter: retryAfter)
    }

    static let resentElsewhere = Refusal(
        .rateLimited, "The code was sent again at the same time. Wait for it.", retryAfter: 1)

    static func numbersExhausted(_ limit: Int, retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited, "You tried \(limit.counting("number")) lately. Try one of them again.", retryAfter: retryAfter
        )
    }

    static func textsExhausted(_ limit: Int) -> Refusal {
        Refusal(
            .rateLimited, "You requested \(limit.counting("text")) to this number in a day. Try again tomorrow.",
            retryAfter: 86_400)
    }

    static let wrongCode = Refusal(
        .verificationFailed, "The code is wrong, or the verification has ended. Check the code, or start another one.")

    static let presenceProofRequired = Refusal(
        .invalidPresenceProof, "The proof of the user's presence is missing. Sign one with the presence key.",
        reason: .missing, about: .presence)

    static let attestedOnly = Refusal(
        .conflict,
        "Texts are sent to devices with an attested key only. Certify this device again, with an attestation of its key.",
        state: "unattested")

    static let unreadableLanguage = Refusal(
        .malformedRequest, "This is not a language tag. Send one, such as de or pt-BR.", about: .language)

    static let captchaUnsupported = Refusal(
        .malformedRequest, "This service does not verify captchas. Omit it.", about: .captcha)

    /// A captcha for a text. A captcha for a certificate has another refusal.
    static let textCaptchaRejected = Refusal(
        .invalidPresenceProof, captchaRejected.detail, reason: .captcha, about: .captcha)

    static let textsNotLimited = Refusal(
        .notFound, "No texts of this name are limited. Check the name in the list.")

    /// For a nonce in a presence proof. Other nonce refusals concern identity tokens.
    var ofPresenceProof: Refusal { Refusal(.invalidPresenceProof, detail, reason: reason) }
}
