/// The URL of a service that the operator names (RFC 3986): `https`, or `http` on this machine, which is for development
/// and tests.
package struct ServiceURL: Sendable, Equatable, CustomStringConvertible {
    package let web: WebAddress

    /// The whole, in its one spelling.
    package var description: String { web.description }
    /// The value of the `Host` field.
    package var host: String { web.host }
    /// Starts with `/`, percent-encoded as on the wire.
    package var path: String { web.path }
    /// What follows `?`, as on the wire; empty if there is none.
    package var query: String { web.query }

    /// Reads a URL; `nil` if the service may not be asked there.
    package init?(_ text: String) {
        guard let web = WebAddress(text), web.isSecure || web.isLoopback else { return nil }
        self.web = web
    }

    /// The URL with a longer path.
    package func appending(_ suffix: String) -> ServiceURL? {
        guard query.isEmpty else { return nil }
        return ServiceURL((description.hasSuffix("/") ? String(description.dropLast()) : description) + suffix)
    }
}
