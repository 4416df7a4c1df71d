/// The external URLs of the service. A free port is known only after the listeners started.
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
}

package extension ServiceURLs {
    /// The public listener, which is the `iss` of access tokens too (RFC 8414 §2).
    var issuer: String { publicURL() }
    var client: String { clientURL() }
    /// The token endpoint of providers.
    var tokenEndpoint: String { issuer + "/token" }
    /// The token endpoint of devices, with mutual TLS (RFC 8705 §5).
    var clientTokenEndpoint: String { client + "/token" }
    /// Where a wallet fetches a request, and where it sends its answer.
    ///
    /// - Parameter request: the secret by which the wallet names the request.
    internal func walletRequest(_ request: String) -> String { issuer + "/wallet/requests/" + request }
    internal func walletResponse(_ request: String) -> String { issuer + "/wallet/responses/" + request }

    /// The well-known URL of a document about a service. The document's name is between host and path (RFC 8414 §3.1,
    /// RFC 9728 §3.1).
    static func wellKnown(_ name: String, of url: String) -> String {
        url[..<pathStart(of: url)] + wellKnownPath(name, of: url)
    }

    /// The path in the result of ``wellKnown(_:of:)``.
    static func wellKnownPath(_ name: String, of url: String) -> String {
        "/.well-known/\(name)\(url[pathStart(of: url)...])"
    }

    private static func pathStart(of url: String) -> String.Index {
        let authority = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return url[authority...].firstIndex(of: "/") ?? url.endIndex
    }

    /// The accepted values of `aud` (RFC 7523 §3).
    var audiences: [String] { [issuer, tokenEndpoint, clientTokenEndpoint] }
}
