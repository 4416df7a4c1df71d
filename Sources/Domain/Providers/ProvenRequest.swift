import Encoding

/// The request that a presence proof was made for.
package struct ProvenRequest: Sendable, Equatable {
    /// `POST`, `PUT` or `DELETE`, as sent.
    package let method: String
    /// The path as sent, percent-encoded.
    package let path: String
    /// The query as sent, without `?`; `nil` if there is none.
    let query: String?
    /// The bytes of the body; empty if there is none.
    package let body: [UInt8]

    package init(method: String, path: String, query: String? = nil, body: [UInt8]) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
    }

    /// Whether a target URI (RFC 9449 §4.2, `htu`) is that of this request: an https URL with this path and, if it has
    /// a query, this query. The host is not compared, because the service may have several; `aud` names the service.
    /// Paths are compared in one form (§4.3).
    package func isTarget(_ uri: String) -> Bool {
        guard uri.hasPrefix("https://"), !uri.utf8.contains(UInt8(ascii: "#")) else { return false }
        let rest = uri.dropFirst("https://".count)
        guard let start = rest.firstIndex(of: "/"), start > rest.startIndex else { return false }
        let target = rest[start...].prefix { $0 != "?" }
        guard WebAddress.normalizedPath(target).hasSameBytes(as: WebAddress.normalizedPath(path)) else { return false }
        let named = rest[target.endIndex...]
        return named.isEmpty || query.map { named.hasSameBytes(as: "?\($0)") } ?? false
    }
}
