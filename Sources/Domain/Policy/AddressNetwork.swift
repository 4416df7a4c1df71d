import Encoding

/// An IP network in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3), such as `10.0.0.0/8` or `2001:db8::/32`.
///
/// IPv4 is stored as its IPv4-mapped IPv6 form (RFC 4291 §2.5.5.2). Listeners on `::` and `0.0.0.0` thus treat it
/// alike.
package struct AddressNetwork: Sendable, Hashable, CustomStringConvertible {
    /// The text that it was parsed from.
    package let description: String
    private let prefix: [UInt8]
    private let bits: Int
}

package extension AddressNetwork {
    /// Parses a network; `nil` for anything else, also if bits after the prefix are set.
    init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let address = IPAddress(String(halves[0])), halves[1].utf8.count <= 3,
            halves[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), halves[1] == "0" || !halves[1].hasPrefix("0"),
            let length = Int(halves[1]), length <= address.bytes.count * 8
        else { return nil }
        bits = 128 - address.bytes.count * 8 + length
        prefix = address.mapped
        guard Self.masked(prefix, bits) == prefix else { return nil }
        description = text
    }

    /// Whether an address of either version is in the network.
    func contains(_ address: IPAddress) -> Bool {
        Self.masked(address.mapped, bits) == prefix
    }

    private static func masked(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - index * 8))
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
    }
}
