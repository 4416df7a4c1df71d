/// The networks under which limits count a sender. A customer of an internet provider gets an IPv6 prefix of /56 or
/// /48, which contains 256 or 65,536 networks of /64. A limit by /64 alone would not limit the customer.
struct SenderNetworks: Sendable {
    /// An IPv4 address, an IPv6 network of /64 with its eight bytes in decimal, as in `32.1.13.184.0.1.2.3/64`, or
    /// another key for the origin of a request.
    let address: String
    /// The network of /56 around it; `nil` if there is none.
    let bits56: String?
    /// The network of /48 around it; `nil` if there is none.
    let bits48: String?

    /// - Parameter address: a limit's key for a sender's address.
    init(_ address: String) {
        self.address = address
        let bytes = address.dropLast(3).split(separator: ".", omittingEmptySubsequences: false)
        let isIPv6 = address.hasSuffix("/64") && bytes.count == 8
        bits56 = isIPv6 ? bytes.prefix(7).joined(separator: ".") + "/56" : nil
        bits48 = isIPv6 ? bytes.prefix(6).joined(separator: ".") + "/48" : nil
    }
}

/// The limits for one sender: for its address, and for the networks around it.
package struct NetworkLimits: Sendable, Equatable {
    /// For one address: /32 of IPv4, /64 of IPv6.
    package var perAddress: Int
    /// For one IPv6 network of /56.
    package var per56: Int
    /// For one IPv6 network of /48.
    package var per48: Int

    package init(perAddress: Int, per56: Int, per48: Int) {
        (self.perAddress, self.per56, self.per48) = (perAddress, per56, per48)
    }
}

package extension NetworkLimits {
    /// For acts without a limit.
    static let none = NetworkLimits(perAddress: .max, per56: .max, per48: .max)

    /// The keys under which a sender is counted, each with its limit. The first is the narrowest.
    ///
    /// - Parameter address: a limit's key for the sender's address.
    func counted(_ address: String) -> [(key: String, limit: Int)] {
        let networks = SenderNetworks(address)
        let counted = [(networks.address, perAddress), (networks.bits56, per56), (networks.bits48, per48)]
        return counted.compactMap { key, limit in key.map { ($0, limit) } }
    }
}
