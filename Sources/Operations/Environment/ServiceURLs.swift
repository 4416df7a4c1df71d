/// Where the service is, as seen from outside. A free port is known only once the listeners run.
package struct ServiceURLs: Sendable {
    private let publicURL: @Sendable () -> String
    private let clientURL: @Sendable () -> String

    /// - Parameters:
    ///   - publicURL: the public listener, without a slash at the end.
    ///   - clientURL: the client listener, without a slash at the end.
    package init(
        publicURL: @escaping @Sendable () -> String, clientURL: @escaping @Sendable () -> String
    ) {
        self.publicURL = publicURL
        self.clientURL = clientURL
    }

    /// The public listener, which is the `iss` of access tokens too (RFC 8414 §2).
    package var issuer: String { publicURL() }
    package var client: String { clientURL() }
    /// The token endpoint of providers.
    package var tokenEndpoint: String { issuer + "/token" }
    /// The token endpoint of devices, with mutual TLS (RFC 8705 §5).
    package var clientTokenEndpoint: String { client + "/token" }
    /// Where a document about a service is: its name is between host and path (RFC 8414 §3.1, RFC 9728 §3.1).
    package static func wellKnown(_ name: String, of url: String) -> String {
        url[..<pathStart(of: url)] + wellKnownPath(name, of: url)
    }

    /// The path of ``wellKnown(_:of:)``.
    package static func wellKnownPath(_ name: String, of url: String) -> String {
        "/.well-known/\(name)\(url[pathStart(of: url)...])"
    }

    private static func pathStart(of url: String) -> String.Index {
        let authority = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return url[authority...].firstIndex(of: "/") ?? url.endIndex
    }

    /// What an `aud` may name (RFC 7523 §3).
    package var audiences: [String] { [issuer, tokenEndpoint, clientTokenEndpoint] }
}
