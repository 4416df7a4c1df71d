import Encoding

extension PublicURL {
    /// The result of resolving the host now.
    enum Reach: Sendable, Equatable {
        /// The service may connect to every address; this is one of them.
        case reachable(IPAddress)
        /// The host has no known address now.
        case unknown
        /// At least one address is not permitted: of this machine or of a private network.
        case forbidden
    }

    /// - Parameters:
    ///   - owner: who names the URL.
    ///   - permits: whether the service may connect to an address.
    func reach(
        of owner: HostOwner, within seconds: Double, by resolver: HostResolver = .shared, permits: (IPAddress) -> Bool
    ) async -> Reach {
        let addresses: [IPAddress]
        if let literal = web.literal {
            addresses = [literal]
        } else {
            addresses = await resolver(web.name, of: owner, within: seconds)
        }
        guard let first = addresses.first else { return .unknown }
        return addresses.allSatisfy(permits) ? .reachable(first) : .forbidden
    }

    /// Whether the host has a private address. A host without an address is not refused: its addresses are checked
    /// again at every request.
    ///
    /// - Parameter owner: the party that names the URL.
    package func isPrivate(of owner: HostOwner) async -> Bool {
        await reach(of: owner, within: 5) { permits($0) } == .forbidden
    }
}
