import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Turns an error into a problem document (RFC 9457). Only this type knows status codes.
struct Problem {
    private(set) var status: HTTPResponse.Status
    let code: String
    let detail: String
    let refusal: Refusal?
    /// The path's methods, if the request's method is not one of them.
    private var allowed: [HTTPRequest.Method] = []
    /// A nonce, so that the caller need not request one at `/nonces`.
    var nonce: (nonce: String, expiresAt: Date)?
    var hasBearer = false
    private var oauthError: String?
    private var eventError: String?

    /// An error that is not a refusal becomes a bare 500: its description is only for the log.
    init(_ error: any Error) {
        switch error {
        case let defect as HTTPDefect: self.init(http: defect)
        case is ClientGone:
            self.init(ClientGone.status, "client_closed_request", "The request did not arrive completely.")
        case let error as Refusal: self.init(refusal: error, Self.status(of: error.code))
        case let error as HeaderSignInRefusal: self.init(refusal: error.refusal, .unauthorized)
        case let error as HTTPError:
            self = Self.refusal(for: error.status).map { Problem(refusal: $0, Self.status(of: $0.code)) } ?? Problem()
        default: self.init()
        }
    }

    private init(http defect: HTTPDefect) {
        self.init(defect.status, defect.code, defect.detail)
        if case .methodNotAllowed(let methods) = defect { allowed = methods }
    }

    private init(refusal: Refusal, _ status: HTTPResponse.Status) {
        self.init(status, refusal.code.rawValue, refusal.wording, refusal)
    }

    private init(
        _ status: HTTPResponse.Status = .internalServerError, _ code: String = "internal_error",
        _ detail: String = "The service failed. The operator finds the cause in the log by request_id.",
        _ refusal: Refusal? = nil
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.refusal = refusal
    }

    private static func refusal(for status: HTTPResponse.Status) -> Refusal? {
        switch status {
        case .notFound: .unknownPath
        case .contentTooLarge: .bodyTooLarge
        case .badRequest: .unreadableRequest
        default: nil
        }
    }

    static func status(of code: Refusal.Code) -> HTTPResponse.Status {
        switch code {
        case .malformedRequest, .invalidDPoPProof: .badRequest
        case .sessionRequired, .sessionExpired, .sessionChallenged, .sessionDestroyed, .sessionNotAttached,
            .providerTokenRequired, .providerTokenInvalid:
            .unauthorized
        case .insufficientScope, .bindingMismatch, .certificateRevoked, .userBanned, .notVerified: .forbidden
        case .notFound: .notFound
        case .conflict: .conflict
        case .gone: .gone
        case .payloadTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .invalidCSR, .invalidProviderKey, .invalidIdentityToken, .invalidPresenceProof, .verificationFailed,
            .cardRejected, .presentationRejected:
            .unprocessableContent
        case .rateLimited: .tooManyRequests
        case .unavailable: .serviceUnavailable
        }
    }

    var isFailure: Bool { refusal == nil && status == .internalServerError }

    /// This problem in the form of an OAuth endpoint.
    func ofOAuth(hasAuthorization: Bool) -> Problem {
        let error = OAuthError(self, hasAuthorization: hasAuthorization)
        var problem = self
        problem.status = error.status
        problem.oauthError = error.word
        return problem
    }

    /// This problem in the form of a receiver of security events (RFC 8935 §2.3): a defect of the token is in the body
    /// of a 400.
    func ofSecurityEvent() -> Problem {
        guard let refusal, let word = SecurityEventError.word(refusal) else { return self }
        var problem = self
        problem.status = .badRequest
        problem.eventError = word
        return problem
    }

    func response(requestID: String, from face: ListenerFace) -> Response {
        let (fields, body) = document(requestID: requestID, from: face)
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
    }

    /// The response's header fields, including its length, and its body.
    func document(requestID: String, from face: ListenerFace) -> (fields: HTTPFields, body: ByteBuffer) {
        var fields = HTTPFields()
        fields[values: .wwwAuthenticate] = challenges(realm: face.realm, resourceMetadata: face.resourceMetadata)
        if !allowed.isEmpty { fields[.allow] = HTTPDefect.list(allowed) }
        if let retryAfter = refusal?.retryAfter { fields[.retryAfter] = String(retryAfter) }
        if refusal?.code == .certificateRevoked { fields[.connection] = "close" }
        let body = members(type: face.problemType(code, refusal?.reason), requestID: requestID).buffer
        fields[.contentType] = oauthError == nil && eventError == nil ? "application/problem+json" : "application/json"
        if eventError != nil { fields[.contentLanguage] = "en" }
        fields[.contentLength] = String(body.readableBytes)
        fields[.cacheControl] = "no-store"
        return (fields, body)
    }

    /// The body (RFC 9457 §3).
    func members(type: String, requestID: String) -> JSONValue {
        let members: KeyValuePairs<String, JSONValue?> = [
            "error": oauthError.map { .string($0) },
            "error_description": oauthError.map { _ in .string(OAuthError.description(detail)) },
            "err": eventError.map { .string($0) },
            "description": eventError.map { _ in .string(detail) },
            "type": .string(type),
            "title": .string(status.reasonPhrase),
            "status": .integer(Int64(status.code)),
            "code": .string(code),
            "detail": .string(detail),
            "request_id": .string(requestID),
            "reason": refusal?.reasonText.map { .string($0) },
            "state": refusal?.state.map { .string($0) },
            "checks": refusal.flatMap { $0.checks.isEmpty ? nil : CardCheck.json($0.checks) },
            "until": refusal?.until.map { .string($0.rfc3339) },
            "export_token": refusal?.exportToken.map { .string($0.reveal()) },
            "required_level": refusal?.requiredLevel.map { .string($0.rawValue) },
            "nonce": nonce.map { .string($0.nonce) },
            "nonce_expires_at": nonce.map { .string($0.expiresAt.rfc3339) },
        ]
        return .object(members)
    }

    /// The authentication schemes for a refused caller (RFC 9110 §11.6.1).
    private func challenges(realm: String, resourceMetadata: String?) -> [String] {
        let bearer = "Bearer realm=\"\(realm)\""
        if refusal?.code == .insufficientScope { return ["\(bearer), error=\"insufficient_scope\""] }
        guard status == .unauthorized else { return [] }
        // RFC 6750 §3.1: with this error code a client requests another token.
        let error = hasBearer && refusal?.code == .providerTokenInvalid ? ", error=\"invalid_token\"" : ""
        guard let nonce else { return [bearer + error] }
        let resource = resourceMetadata.map { ", resource_metadata=\"\($0)\"" } ?? ""
        return ["Layer realm=\"\(realm)\", nonce=\"\(nonce.nonce)\"", bearer + resource + error]
    }
}

/// A refused sign-in by header. It is always 401, with the code and reason of the refusal.
struct HeaderSignInRefusal: Error {
    let refusal: Refusal
}

extension Refusal {
    /// The sentence for an HTTP caller, with the member or the call that it is about.
    var wording: String {
        guard let subject else { return detail }
        if let member = subject.member { return "$.\(member): \(detail)" }
        return switch subject {
        case .clientID: "client_id: \(detail)"
        case .authorizations: "\(detail) GET /authorizations lists it."
        case .cursor: "\(detail) Start again without a cursor."
        case .phoneVerification: "\(detail) Start at POST /phone-verifications."
        default: detail
        }
    }
}

extension Refusal.Subject {
    /// The JSON member of requests; `nil` for a call, and for what only the command line sends.
    var member: String? {
        switch self {
        case .algorithm: "alg"
        case .applicationID: "app_id"
        case .barcode: "aamva"
        case .blindedNumbers: "blinded"
        case .callEndpoint: "call_endpoint"
        case .captcha: "captcha"
        case .enrolmentToken: "enrolment_token"
        case .eventID: "event_id"
        case .findableAddress: "address"
        case .language: "locale"
        case .machineReadableZone: "mrz"
        case .messageParts: "parts"
        case .messageStorage: "message_storage"
        case .metadataPatch: "merge"
        case .newID: "id"
        case .newMetadata: "set"
        case .notificationBody: "body"
        case .notificationData: "data"
        case .origin: "origin"
        case .presence: "presence"
        case .presenceKey: "presence_key"
        case .pushEndpoint: "push_endpoint"
        case .recipient: "to"
        case .repliedMessage: "in_reply_to"
        case .returnAddress: "return_to"
        case .streamDescription: "description"
        case .streamImage: "image_url"
        case .streamKind: "kind"
        case .streamMembers: "members"
        case .streamMetadata: "metadata"
        case .title: "title"
        case .streamURL: "delivery.endpoint_url"
        case .walletProtocol: "protocol"
        case .webhookURL: "url"
        case .account, .audience, .authorizations, .clientID, .cursor, .name, .note, .parties, .party,
            .phoneVerification, .reason, .slug:
            nil
        }
    }
}
