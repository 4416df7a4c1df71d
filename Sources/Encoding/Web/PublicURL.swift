/// A URL that a provider names: `https`, and nothing of this machine or of a private network.
///
/// The text is checked here. The addresses of its host are checked when it is set and again at every request, and the
/// connection goes to the address that was checked.
package struct PublicURL: Sendable, Equatable, CustomStringConvertible {
    package let web: WebAddress
    /// Whether this machine is permitted as well, in development.
    package let allowsLoopback: Bool

    /// The whole, in its one spelling.
    package var description: String { web.description }

    /// Reads a URL; `nil` if a provider may not name it.
    ///
    /// - Parameter allowingLoopback: takes this machine, too, over `http` as well: the switch for development and tests.
    package init?(_ text: String, allowingLoopback: Bool) {
        guard let web = WebAddress(text) else { return nil }
        if web.isLoopback {
            guard allowingLoopback else { return nil }
        } else {
            guard web.isSecure, web.literal?.isPublic ?? web.name.contains(".") else { return nil }
        }
        self.web = web
        allowsLoopback = allowingLoopback
    }

    /// Whether the service may connect to an address of the host.
    package func permits(_ address: IPAddress) -> Bool {
        Self.permits(address, allowingLoopback: allowsLoopback)
    }

    /// Whether the service may connect to an address that such a URL leads to.
    package static func permits(_ address: IPAddress, allowingLoopback: Bool) -> Bool {
        address.isPublic || allowingLoopback && address.isLoopback
    }
}
