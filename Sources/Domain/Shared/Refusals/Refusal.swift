import Foundation

/// A refusal by the service. Thrown everywhere, turned into a response in one place (`API/Problem`), compared by
/// code.
package struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The contract's error code, which programs compare.
    package let code: Code
    /// One sentence that a developer can act on: no secret and no other person's data.
    package let detail: String
    /// A more precise code, such as `bad_signature`; fixed by the contract if present.
    package let reason: Reason?
    /// The company's reason for a ban (`user_banned`); it takes the place of ``reason`` in responses.
    let banReason: Ban.Reason?
    /// The part of the request that the sentence concerns; `nil` if the sentence names it.
    package let subject: Subject?
    /// The state that forbids a transition (`conflict`).
    package let state: String?
    /// The level that the action needs (`not_verified`).
    package let requiredLevel: Assurance?
    /// Seconds until another try makes sense (`rate_limited`).
    package let retryAfter: Int?
    /// Every check of a rejected card (`card_rejected`).
    package let checks: [CardCheck]
    /// When the refusal ends by itself (`user_banned`); `nil` if it does not.
    package let until: Date?
    /// The token with which a banned user exports or erases their own data (`user_banned`).
    package let exportToken: Secret<String>?
    /// A detail for the log only. It must not contain a secret either.
    package let privateDetail: String?
}

package extension Refusal {
    /// Only the code and the sentence are required.
    init(
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

    /// The text of ``reason`` or ``banReason`` in responses and logs.
    var reasonText: String? { reason?.rawValue ?? banReason?.rawValue }

    /// The codes of the contract. Only the web layer knows their HTTP statuses.
    enum Code: String, Sendable, CaseIterable {
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
        case insufficientScope = "insufficient_scope"
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
        case invalidDPoPProof = "invalid_dpop_proof"
        case verificationFailed = "verification_failed"
        case cardRejected = "card_rejected"
        case presentationRejected = "presentation_rejected"
        case rateLimited = "rate_limited"
        case unavailable
    }

    /// Two refusals are equal if code and reason are equal, because sentences may be reworded.
    static func == (left: Refusal, right: Refusal) -> Bool {
        left.code == right.code && left.reasonText == right.reasonText
    }

    var description: String {
        "\(code.rawValue)\(reasonText.map { " (\($0))" } ?? ""): \(detail)"
    }
}
