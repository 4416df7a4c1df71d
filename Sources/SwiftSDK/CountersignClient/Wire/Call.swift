import Foundation
import HTTPTypes

/// A request, and whether it may be repeated.
struct Call: Sendable {
    var request: HTTPRequest
    var body: Data?
    /// Whether a repetition has no further effect, so that a lost response does no harm.
    let isRepeatable: Bool
    /// How long the service may wait before it responds, in addition to the usual time limit.
    var wait = Duration.zero
    /// The token of the session that it is made in, for the user's session.
    private(set) var sessionToken: String?

    /// A call with a body, repeatable unless it says otherwise. Equal bodies have equal bytes.
    init(_ method: HTTPRequest.Method, _ path: String, body: some Encodable, isRepeatable: Bool = true) {
        request = HTTPRequest(method: method, scheme: "https", authority: nil, path: path)
        self.isRepeatable = isRepeatable
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        self.body = try? encoder.encode(body)
        request.headerFields[.contentType] = "application/json"
    }

    /// - Parameters:
    ///   - json: members of the body; `nil` ones are left out.
    ///   - isRepeatable: `nil` for HTTP's rule for the method (RFC 9110 §9.2.2).
    init(
        _ method: HTTPRequest.Method, _ path: String, json: [String: String?]? = nil, isRepeatable: Bool? = nil
    ) {
        request = HTTPRequest(method: method, scheme: "https", authority: nil, path: path)
        self.isRepeatable = isRepeatable ?? Self.isIdempotent(method)
        guard let json else { return }
        body = try? JSONEncoder().encode(json.compactMapValues(\.self))
        request.headerFields[.contentType] = "application/json"
    }

    /// A form (RFC 6749 Appendix B).
    init(form: KeyValuePairs<String, String>, to path: String) {
        request = HTTPRequest(method: .post, scheme: "https", authority: nil, path: path)
        isRepeatable = true
        let pairs = form.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        body = Data(pairs.joined(separator: "&").utf8)
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
    }

    /// A request of the app.
    init(_ request: HTTPRequest, body: Data?) {
        self.request = request
        self.body = body
        isRepeatable = Self.isIdempotent(request.method)
    }

    /// Sets the session that it is made in.
    mutating func authorize(_ token: String) {
        sessionToken = token
        request.headerFields[.authorization] = "Layer session-token=\"\(token)\""
    }

    private static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .put, .delete, .options].contains(method)
    }
}
