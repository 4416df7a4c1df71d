import Domain

/// A refusal in the words of the push delivery of security events (RFC 8935 §2.4).
enum SecurityEventError {
    /// The path whose errors are in these words.
    static let path = "/provider/events"

    /// The registered word; `nil` if the token is not to blame.
    static func word(_ refusal: Refusal) -> String? {
        switch refusal.code {
        case .malformedRequest: "invalid_request"
        case .providerTokenInvalid:
            switch refusal.reason {
            case .unknownIssuer: "invalid_issuer"
            case .wrongAudience: "invalid_audience"
            case .unknownKey, .keyRetired, .algorithmMismatch: "invalid_key"
            case .badSignature: "authentication_failed"
            case .unexpectedState: "invalid_state"
            default: "invalid_request"
            }
        default: nil
        }
    }
}
