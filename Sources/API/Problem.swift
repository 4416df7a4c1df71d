import Foundation
import HTTPTypes
import Hummingbird
import Identity

/// Turns what went wrong into the answer that the contract fixes (RFC 9457). The only place that knows status codes.
struct Problem {
    let status: HTTPResponse.Status
    let refusal: Refusal?
    /// A nonce that saves the caller the round trip to `/nonces`.
    var nonce: (nonce: String, expiresAt: Date)?

    /// Reads an error. What is no refusal becomes a bare 500: its description is for the log alone.
    init(_ error: any Error) {
        let refusal: Refusal?
        switch error {
        case let error as Refusal: refusal = error
        case let error as HeaderFormRefusal: refusal = error.refusal
        case let error as HTTPError: refusal = Self.refusal(for: error.status)
        default: refusal = nil
        }
        self.refusal = refusal
        if error is HeaderFormRefusal {
            status = .unauthorized
        } else {
            status = refusal.map { Self.status(of: $0.code) } ?? .internalServerError
        }
    }

    private static func refusal(for status: HTTPResponse.Status) -> Refusal? {
        switch status {
        case .notFound, .methodNotAllowed: Refusal(.notFound, "There is nothing here under this method and path.")
        case .contentTooLarge: Refusal(.payloadTooLarge, "The body is larger than this service reads.")
        case .badRequest: Refusal(.malformedRequest, "The request cannot be read.")
        default: nil
        }
    }

    /// The contract's table.
    static func status(of code: Refusal.Code) -> HTTPResponse.Status {
        switch code {
        case .malformedRequest: .badRequest
        case .sessionRequired, .sessionExpired, .sessionChallenged, .sessionDestroyed, .sessionNotAttached,
            .providerTokenRequired, .providerTokenInvalid:
            .unauthorized
        case .bindingMismatch, .certificateRevoked, .userBanned, .notVerified: .forbidden
        case .notFound: .notFound
        case .conflict: .conflict
        case .gone: .gone
        case .payloadTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .invalidCSR, .invalidProviderKey, .invalidIdentityToken, .invalidPresenceProof, .verificationFailed,
            .cardRejected:
            .unprocessableContent
        case .rateLimited: .tooManyRequests
        case .unavailable: .serviceUnavailable
        }
    }

    /// The answer.
    func response(requestID: String, realm: String) -> Response {
        let members: KeyValuePairs<String, JSONValue?> = [
            "type": .string(refusal.map { "urn:countersign:problem:\($0.code.rawValue)" } ?? "about:blank"),
            "title": .string(status.reasonPhrase),
            "status": .integer(Int64(status.code)),
            "code": .string(refusal?.code.rawValue ?? "internal_error"),
            "detail": .string(refusal?.detail ?? "The service failed; the request's id finds the reason in its log."),
            "request_id": .string(requestID),
            "reason": refusal?.reason.map { .string($0) },
            "state": refusal?.state.map { .string($0) },
            "checks": refusal.flatMap { $0.checks.isEmpty ? nil : CardCheck.json($0.checks) },
            "until": refusal?.until.map { .string($0.rfc3339) },
            "export_token": refusal?.exportToken.map { .string($0.reveal()) },
            "required_level": refusal?.requiredLevel.map { .string($0.rawValue) },
            "nonce": nonce.map { .string($0.nonce) },
            "nonce_expires_at": nonce.map { .string($0.expiresAt.rfc3339) },
        ]
        var response = Response(status: status)
        if let nonce {
            if status == .unauthorized {
                response.headers[.wwwAuthenticate] = "Layer realm=\"\(realm)\", nonce=\"\(nonce.nonce)\""
            }
        } else if status == .unauthorized {
            response.headers[.wwwAuthenticate] = "Bearer realm=\"\(realm)\""
        }
        if let retryAfter = refusal?.retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        if refusal?.code == .certificateRevoked { response.headers[.connection] = "close" }
        response.setJSON(.object(members), type: "application/problem+json")
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

/// A refusal of the header form of a session's creation: always 401, with the same code and reason.
struct HeaderFormRefusal: Error {
    let refusal: Refusal
}
