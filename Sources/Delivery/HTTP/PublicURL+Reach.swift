import Encoding

extension PublicURL {
    /// What the resolver says of the host now.
    enum Reach: Sendable, Equatable {
        /// The service may connect to every address; this is the one to connect to.
        case reachable(IPAddress)
        /// No address is known now.
        case unknown
        /// At least one address is of this machine or of a private network.
        case forbidden
    }

    /// - Parameter permits: which addresses the service may connect to.
    func reach(within seconds: Double, permits: (IPAddress) -> Bool) async -> Reach {
        let addresses: [IPAddress]
        if let literal = web.literal {
            addresses = [literal]
        } else {
            addresses = await HostAddresses.resolve(web.name, within: seconds)
        }
        guard let first = addresses.first else { return .unknown }
        return addresses.allSatisfy(permits) ? .reachable(first) : .forbidden
    }

    /// Whether the host has an address that is not public. A host without an address is not refused: its addresses are
    /// checked again at every request.
    package func isPrivate() async -> Bool {
        await reach(within: 5) { permits($0) } == .forbidden
    }
}
