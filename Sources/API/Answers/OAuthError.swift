import Domain
import HTTPTypes

/// A refusal with OAuth's members: `error` and `error_description` in addition to those of a problem.
struct OAuthError {
    /// The paths whose errors have the form of RFC 6749 §5.2, RFC 7009 §2.2.1 and RFC 7662 §2.3. So have those of wallets
    /// (OpenID4VP 1.0 §8.2).
    private static let paths: Set = ["/token", "/introspect", "/revoke"]

    /// Whether errors of a path have OAuth's form, by its template or as requested. The endpoints of Shared Signals
    /// accept access tokens and define no form of their own.
    static func applies(to path: String) -> Bool {
        paths.contains(path) || path.hasPrefix("/ssf/") || path.hasPrefix("/wallet/")
    }

    /// The registered error code (RFC 6749 §11.4).
    let word: String
    let status: HTTPResponse.Status

    /// - Parameter hasAuthorization: whether the client authenticated by `Authorization` (RFC 6750 §3.1), not in the
    ///   form.
    init(_ problem: Problem, hasAuthorization: Bool) {
        guard let refusal = problem.refusal else {
            word = problem.isFailure ? "server_error" : "invalid_request"
            status = problem.status
            return
        }
        word = Self.word(refusal, hasAuthorization: hasAuthorization)
        status =
            switch refusal.code {
            // RFC 6749 §5.2 and RFC 8693 §2.2.2 require 400 for these.
            case .invalidIdentityToken, .userBanned, .bindingMismatch, .sessionRequired, .sessionExpired,
                .sessionChallenged, .sessionDestroyed, .sessionNotAttached, .presentationRejected:
                .badRequest
            default: problem.status
            }
    }

    /// A sentence restricted to the characters of `error_description` (RFC 6749 §5.2).
    static func description(_ detail: String) -> String {
        String(
            decoding: detail.unicodeScalars.map { scalar -> UInt8 in
                switch scalar {
                case " ", "!", "#"..."[", "]"..."~": UInt8(truncatingIfNeeded: scalar.value)
                default: UInt8(ascii: "?")
                }
            }, as: UTF8.self)
    }

    private static func word(_ refusal: Refusal, hasAuthorization: Bool) -> String {
        switch refusal.code {
        case .malformedRequest:
            switch refusal.reason {
            case .unsupportedGrantType, .invalidTarget, .invalidScope: refusal.reasonText ?? "invalid_request"
            default: "invalid_request"
            }
        case .invalidIdentityToken, .userBanned: "invalid_grant"
        case .providerTokenRequired, .providerTokenInvalid: hasAuthorization ? "invalid_token" : "invalid_client"
        case .certificateRevoked: "invalid_client"
        case .insufficientScope: "insufficient_scope"
        case .invalidDPoPProof: "invalid_dpop_proof"
        case .rateLimited, .unavailable: "temporarily_unavailable"
        default: "invalid_request"
        }
    }
}
