import Domain

/// A refusal in the form of RFC 8935 §2.4, push delivery of security events.
enum SecurityEventError {
    /// The path whose errors have this form.
    static let path = "/provider/events"

    /// The registered error code; `nil` if the error is not one of the token.
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
