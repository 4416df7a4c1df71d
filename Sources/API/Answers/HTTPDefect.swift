import HTTPTypes

/// A defect of a request as an HTTP message, independent of its target (RFC 9110, 9112, 9113).
enum HTTPDefect: Error, Equatable {
    /// The message cannot be parsed, or its parts contradict each other.
    case malformed(String)
    /// The path exists, but not for this method; the array has its methods.
    case methodNotAllowed([HTTPRequest.Method])
    /// The request target is longer than the limit of all header fields together.
    case targetTooLong
    /// There are too many header fields, or they are too long.
    case fieldsTooLarge
    /// The body has a transfer coding other than `chunked` (RFC 9112 §6.1).
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
        case .methodNotAllowed(let methods): "This path accepts only \(Self.list(methods))."
        case .targetTooLong: "The path and query are too long. Shorten them."
        case .fieldsTooLarge: "The request has too many or too long header fields. Send fewer."
        case .unknownTransferCoding: "The transfer coding is not supported. Use chunked or Content-Length."
        }
    }

    /// The value of `Allow` (RFC 9110 §10.2.1).
    static func list(_ methods: [HTTPRequest.Method]) -> String { methods.map(\.rawValue).joined(separator: ", ") }
}
