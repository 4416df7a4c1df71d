import NIOCore
import NIOPosix

/// A URL that a provider names: `https`, and nothing of this machine or of a private network.
///
/// What its text shows is judged when it is made; what the resolver says of its host by ``isPrivate()`` when it is set,
/// and again at every request, where the connection goes to the address that was judged.
package struct PublicURL: Sendable, Equatable, CustomStringConvertible {
    let web: WebAddress
    /// Whether this machine counts as public, in development.
    let allowsLoopback: Bool

    /// The whole, in its one spelling.
    package var description: String { web.description }

    /// Reads a URL; `nil` where a provider may not name it.
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

    /// What the resolver says of the host now.
    enum Reach: Sendable, Equatable {
        /// Every address may be spoken to; this is the one to connect to.
        case reachable(NetworkAddress)
        /// No address is known now.
        case unknown
        /// At least one address is of this machine or of a private network.
        case forbidden
    }

    /// Whether an address may be spoken to for such a URL.
    static func permits(_ address: NetworkAddress, allowingLoopback: Bool) -> Bool {
        address.isPublic || allowingLoopback && address.isLoopback
    }

    func reach(
        within seconds: Double, permits: (NetworkAddress) -> Bool
    ) async -> Reach {
        let addresses: [NetworkAddress]
        if let literal = web.literal {
            addresses = [literal]
        } else {
            addresses = await NetworkAddress.resolve(web.name, within: seconds)
        }
        guard let first = addresses.first else { return .unknown }
        return addresses.allSatisfy(permits) ? .reachable(first) : .forbidden
    }

    /// Whether the host has an address that is not public. A host without an address is not refused: it is looked at
    /// again whenever it is spoken to.
    package func isPrivate() async -> Bool {
        await reach(within: 5) { Self.permits($0, allowingLoopback: allowsLoopback) } == .forbidden
    }
}
