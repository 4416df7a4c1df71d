import HTTPTypes

/// What is wrong with a request as a message of HTTP, whatever it asks for (RFC 9110, 9112, 9113).
enum HTTPDefect: Error, Equatable {
    /// It cannot be read, or its parts contradict each other.
    case malformed(String)
    /// The path is there, the method is not; these are.
    case methodNotAllowed([HTTPRequest.Method])
    /// The request's target is longer than the header fields may be together.
    case targetTooLong
    /// Too many header fields, or too long ones.
    case fieldsTooLarge
    /// Its body comes in a transfer coding besides `chunked` (RFC 9112 §6.1).
    case unknownTransferCoding

    var status: HTTPResponse.Status {
        switch self {
        case .malformed: .badRequest
        case .methodNotAllowed: .methodNotAllowed
        case .targetTooLong: .uriTooLong
        case .fieldsTooLarge: .requestHeaderFieldsTooLarge
        case .unknownTransferCoding: .notImplemented
        }
    }

    var code: String {
        switch self {
        case .malformed: "malformed_request"
        case .methodNotAllowed: "method_not_allowed"
        case .targetTooLong: "target_too_long"
        case .fieldsTooLarge: "header_fields_too_large"
        case .unknownTransferCoding: "transfer_coding_unknown"
        }
    }

    var detail: String {
        switch self {
        case .malformed(let detail): detail
        case .methodNotAllowed(let methods): "This path takes \(Self.list(methods)) only."
        case .targetTooLong: "The path and query are longer than this service reads."
        case .fieldsTooLarge: "The header fields are more or longer than this service reads."
        case .unknownTransferCoding: "The only transfer coding that is known here is chunked."
        }
    }

    /// The value of `Allow` (RFC 9110 §10.2.1).
    static func list(_ methods: [HTTPRequest.Method]) -> String { methods.map(\.rawValue).joined(separator: ", ") }
}

/// Whoever sent the request did not stay for its end: went away, reset its stream, or was cut off by a deadline of ours.
struct ClientGone: Error {
    /// What is counted and logged. No number of IANA's, but what operators know it by since nginx.
    static let status = HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request")
}
