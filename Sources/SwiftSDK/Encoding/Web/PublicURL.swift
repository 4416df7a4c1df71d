/// A URL that a provider names: `https`, and not an address of this machine or of a private network.
///
/// The text is checked here. The addresses of its host are checked when the URL is set and again at every request. The
/// connection goes to the checked address.
public struct PublicURL: Sendable, Equatable, CustomStringConvertible {
    public let web: WebAddress
    /// Whether this machine is permitted too, for development.
    let allowsLoopback: Bool

    /// Parses a URL; `nil` if a provider may not name it.
    ///
    /// - Parameter allowingLoopback: also permits this machine, and `http` to it, for development and tests.
    public init?(_ text: String, allowingLoopback: Bool) {
        guard let web = WebAddress(text) else { return nil }
        if web.isLoopback {
            guard allowingLoopback else { return nil }
        } else {
            guard web.isSecure, web.literal?.isPublic ?? web.name.contains(".") else { return nil }
        }
        self.web = web
        allowsLoopback = allowingLoopback
    }
}

public extension PublicURL {
    /// The whole URL in canonical form.
    var description: String { web.description }

    /// Whether the service may connect to an address of the host.
    func permits(_ address: IPAddress) -> Bool {
        Self.permits(address, allowingLoopback: allowsLoopback)
    }

    /// Whether the service may connect to an address that the host of such a URL resolves to.
    static func permits(_ address: IPAddress, allowingLoopback: Bool) -> Bool {
        address.isPublic || allowingLoopback && address.isLoopback
    }
}
