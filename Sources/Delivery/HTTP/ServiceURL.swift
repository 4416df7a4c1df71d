/// Where a service is that the operator names (RFC 3986): `https`, or `http` on this machine, which is for development
/// and tests.
package struct ServiceURL: Sendable, Equatable, CustomStringConvertible {
    let web: WebAddress

    /// The whole, in its one spelling.
    package var description: String { web.description }
    /// The value of the `Host` field.
    var host: String { web.host }
    /// Starts with `/`, percent-encoded as on the wire.
    var path: String { web.path }
    /// What follows `?`, as on the wire; empty where there is none.
    var query: String { web.query }

    /// Reads a URL; `nil` where the service may not be asked there.
    package init?(_ text: String) {
        guard let web = WebAddress(text), web.isSecure || web.isLoopback else { return nil }
        self.web = web
    }

    /// The URL with a longer path.
    func appending(_ suffix: String) -> ServiceURL? {
        guard query.isEmpty else { return nil }
        return ServiceURL((description.hasSuffix("/") ? String(description.dropLast()) : description) + suffix)
    }
}
