import Foundation

/// Why the service says no. Thrown everywhere, turned into an answer in one place (`API/Problem`), compared by code.
package struct Refusal: Error, Sendable {
    /// The contract's word, what programs look at.
    package let code: Code
    /// One sentence that a developer can act on: no secret and no other person's data.
    package let detail: String
    /// A finer word under the code, such as `bad_signature`; fixed by the contract if it exists.
    package let reason: Reason?
    /// The company's own word for a ban (`user_banned`); it is written in the place of the reason.
    package let banReason: Ban.Reason?
    /// What the sentence is about; `nil` if it says so itself.
    package let subject: Subject?
    /// The state that forbids a transition (`conflict`).
    package let state: String?
    /// The level that the action needs (`not_verified`).
    package let requiredLevel: Assurance?
    /// Seconds until another try makes sense (`rate_limited`).
    package let retryAfter: Int?
    /// Every check of a card that was refused (`card_rejected`).
    package let checks: [CardCheck]
    /// When what refuses ends by itself (`user_banned`); `nil` if it does not.
    package let until: Date?
    /// What opens the export and the erasure of the own data to a banned user (`user_banned`).
    package let exportToken: Secret<String>?
    /// What only the log may hold; never a secret either.
    package let privateDetail: String?

    /// Makes a refusal; everything but the code and the sentence is optional.
    package init(
        _ code: Code, _ detail: String, reason: Reason? = nil, about subject: Subject? = nil, state: String? = nil,
        requiredLevel: Assurance? = nil,
        retryAfter: Int? = nil, checks: [CardCheck] = [], banReason: Ban.Reason? = nil, until: Date? = nil,
        exportToken: Secret<String>? = nil, privateDetail: String? = nil
    ) {
        self.code = code
        self.detail = detail
        self.reason = reason
        self.subject = subject
        self.banReason = banReason
        self.state = state
        self.requiredLevel = requiredLevel
        self.retryAfter = retryAfter
        self.checks = checks
        self.until = until
        self.exportToken = exportToken
        self.privateDetail = privateDetail
    }

    /// The word for ``reason`` or ``banReason``, as answers and logs hold it.
    package var reasonText: String? { reason?.rawValue ?? banReason?.rawValue }

    /// The codes of the contract. Which status each has is known to the web layer alone.
    package enum Code: String, Sendable, CaseIterable {
        case malformedRequest = "malformed_request"
        case payloadTooLarge = "payload_too_large"
        case unsupportedMediaType = "unsupported_media_type"
        case sessionRequired = "session_required"
        case sessionExpired = "session_expired"
        case sessionChallenged = "session_challenged"
        case sessionDestroyed = "session_destroyed"
        case sessionNotAttached = "session_not_attached"
        case providerTokenRequired = "provider_token_required"
        case providerTokenInvalid = "provider_token_invalid"
        case bindingMismatch = "binding_mismatch"
        case certificateRevoked = "certificate_revoked"
        case userBanned = "user_banned"
        case notVerified = "not_verified"
        case notFound = "not_found"
        case conflict
        case gone
        case invalidCSR = "invalid_csr"
        case invalidProviderKey = "invalid_provider_key"
        case invalidIdentityToken = "invalid_identity_token"
        case invalidPresenceProof = "invalid_presence_proof"
        case verificationFailed = "verification_failed"
        case cardRejected = "card_rejected"
        case rateLimited = "rate_limited"
        case unavailable
    }
}

extension Refusal: Equatable {
    /// Two refusals are the same when code and reason are: sentences may be reworded.
    package static func == (left: Refusal, right: Refusal) -> Bool {
        left.code == right.code && left.reasonText == right.reasonText
    }
}

extension Refusal: CustomStringConvertible {
    /// Code, reason and public sentence.
    package var description: String {
        "\(code.rawValue)\(reasonText.map { " (\($0))" } ?? ""): \(detail)"
    }
}
