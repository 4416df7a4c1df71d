/// The URL of a service that the operator names (RFC 3986): `https`. For development and tests also `http` on this
/// machine.
public struct ServiceURL: Sendable, Equatable, CustomStringConvertible {
    public let web: WebAddress

    /// Parses a URL; `nil` if the service may not send requests to it.
    public init?(_ text: String) {
        guard let web = WebAddress(text), web.isSecure || web.isLoopback else { return nil }
        self.web = web
    }
}

public extension ServiceURL {
    /// The whole URL in canonical form.
    var description: String { web.description }
    /// The value of the `Host` field.
    var host: String { web.host }
    /// Starts with `/`, percent-encoded as on the wire.
    var path: String { web.path }
    /// The query as on the wire, without `?`; empty if there is none.
    var query: String { web.query }

    /// This URL with the suffix after its path.
    func appending(_ suffix: String) -> ServiceURL? {
        guard query.isEmpty else { return nil }
        return ServiceURL((description.hasSuffix("/") ? String(description.dropLast()) : description) + suffix)
    }
}
