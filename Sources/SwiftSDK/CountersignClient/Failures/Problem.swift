import Foundation

/// A refusal of the service (RFC 9457).
public struct Problem: Error, Sendable, Decodable {
    public let status: Int
    public let code: Code
    /// One sentence that a developer can act on.
    public let detail: String
    /// The reason within the code, such as `nonce_used`. Treat an unknown one like its code.
    public let reason: String?
    /// For a `conflict`, the state that does not allow the call.
    public let state: String?
    /// For `not_verified`, the level that the call requires.
    public let requiredLevel: Assurance?
    /// The end of a ban; `nil` if it is permanent.
    public let until: Date?
    /// Permits export and erasure of a banned user's data for ten minutes.
    public let exportToken: String?
    /// The checks of a refused card.
    public let checks: [CardResult.Check]?
    /// The id of the request in the operator's log.
    public let requestID: String?
    /// When to try again, in seconds: the header `Retry-After`.
    public internal(set) var retryAfter: Int?
    /// For the next identity token.
    let nonce: Nonce?

    /// The kind of a refusal. A later version of the service may have others.
    public struct Code: RawRepresentable, Sendable, Hashable, Decodable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let malformedRequest = Code(rawValue: "malformed_request")
        public static let payloadTooLarge = Code(rawValue: "payload_too_large")
        public static let unsupportedMediaType = Code(rawValue: "unsupported_media_type")
        public static let sessionRequired = Code(rawValue: "session_required")
        public static let sessionExpired = Code(rawValue: "session_expired")
        public static let sessionChallenged = Code(rawValue: "session_challenged")
        public static let sessionDestroyed = Code(rawValue: "session_destroyed")
        public static let sessionNotAttached = Code(rawValue: "session_not_attached")
        public static let bindingMismatch = Code(rawValue: "binding_mismatch")
        public static let certificateRevoked = Code(rawValue: "certificate_revoked")
        public static let userBanned = Code(rawValue: "user_banned")
        public static let notVerified = Code(rawValue: "not_verified")
        public static let notFound = Code(rawValue: "not_found")
        public static let conflict = Code(rawValue: "conflict")
        public static let gone = Code(rawValue: "gone")
        public static let invalidCSR = Code(rawValue: "invalid_csr")
        public static let invalidIdentityToken = Code(rawValue: "invalid_identity_token")
        public static let invalidDPoPProof = Code(rawValue: "invalid_dpop_proof")
        public static let invalidPresenceProof = Code(rawValue: "invalid_presence_proof")
        public static let verificationFailed = Code(rawValue: "verification_failed")
        public static let cardRejected = Code(rawValue: "card_rejected")
        public static let presentationRejected = Code(rawValue: "presentation_rejected")
        public static let rateLimited = Code(rawValue: "rate_limited")
        public static let unavailable = Code(rawValue: "unavailable")
    }

    private enum CodingKeys: String, CodingKey {
        case status, code, detail, reason, state, until, checks, nonce
        case requiredLevel = "required_level"
        case exportToken = "export_token"
        case requestID = "request_id"
        case nonceExpiresAt = "nonce_expires_at"
    }

    /// The earlier refusal of the current session, so that the service is not asked again.
    static let challenged = Problem(
        status: 401, code: .sessionChallenged, detail: "The session was challenged: sign in again.")

    private init(status: Int, code: Code, detail: String) {
        (self.status, self.code, self.detail) = (status, code, detail)
        (reason, state, requiredLevel, until, exportToken) = (nil, nil, nil, nil, nil)
        (checks, requestID, nonce) = (nil, nil, nil)
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        status = try members.decode(Int.self, forKey: .status)
        code = Code(rawValue: try members.decode(String.self, forKey: .code))
        detail = try members.decodeIfPresent(String.self, forKey: .detail) ?? ""
        reason = try members.decodeIfPresent(String.self, forKey: .reason)
        state = try members.decodeIfPresent(String.self, forKey: .state)
        requiredLevel = try members.decodeIfPresent(Assurance.self, forKey: .requiredLevel)
        until = try members.decodeIfPresent(Date.self, forKey: .until)
        exportToken = try members.decodeIfPresent(String.self, forKey: .exportToken)
        checks = try members.decodeIfPresent([CardResult.Check].self, forKey: .checks)
        requestID = try members.decodeIfPresent(String.self, forKey: .requestID)
        let text = try members.decodeIfPresent(String.self, forKey: .nonce)
        let end = try members.decodeIfPresent(Date.self, forKey: .nonceExpiresAt)
        if let text, let end { nonce = Nonce(value: text, expiresAt: end) } else { nonce = nil }
    }
}

extension Problem: CustomStringConvertible {
    public var description: String {
        let word = reason ?? state
        return "\(code.rawValue)\(word.map { " (\($0))" } ?? ""): \(detail)"
    }

    /// Whether nothing was changed, and a retry a moment later will probably succeed.
    var isPassing: Bool { code == .unavailable && reason != "outcome_unknown" }

    /// Whether another presence proof will probably be accepted: the nonce was spent by a call with a lost response,
    /// the user took too long, or the certificate was renewed meanwhile.
    var asksForPresence: Bool {
        code == .invalidPresenceProof
            && ["nonce_used", "nonce_expired", "nonce_unknown", "nonce_other_device", "expired"].contains(reason)
    }

    /// Whether the session must be renewed or opened again before the call.
    var asksForIdentity: Bool {
        [.sessionChallenged, .sessionExpired, .sessionDestroyed, .sessionRequired, .bindingMismatch].contains(code)
    }
}
