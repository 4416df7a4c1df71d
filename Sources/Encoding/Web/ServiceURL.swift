/// The URL of a service that the operator names (RFC 3986): `https`. For development and tests also `http` on this
/// machine.
package struct ServiceURL: Sendable, Equatable, CustomStringConvertible {
    package let web: WebAddress

    /// The whole URL in canonical form.
    package var description: String { web.description }
    /// The value of the `Host` field.
    package var host: String { web.host }
    /// Starts with `/`, percent-encoded as on the wire.
    package var path: String { web.path }
    /// The query as on the wire, without `?`; empty if there is none.
    package var query: String { web.query }

    /// Parses a URL; `nil` if the service may not send requests to it.
    package init?(_ text: String) {
        guard let web = WebAddress(text), web.isSecure || web.isLoopback else { return nil }
        self.web = web
    }

    /// This URL with the suffix after its path.
    package func appending(_ suffix: String) -> ServiceURL? {
        guard query.isEmpty else { return nil }
        return ServiceURL((description.hasSuffix("/") ? String(description.dropLast()) : description) + suffix)
    }
}
