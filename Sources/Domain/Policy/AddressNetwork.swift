import Foundation

/// An IP network in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3), such as `10.0.0.0/8` or `2001:db8::/32`.
///
/// IPv4 is held as IPv6 has it mapped (RFC 4291 §2.5.5.2), so that a listener on `::` and one on `0.0.0.0` mean the same.
package struct AddressNetwork: Sendable, Hashable, CustomStringConvertible {
    /// The text that it was read from.
    package let description: String
    private let prefix: [UInt8]
    private let bits: Int

    /// Reads a network; `nil` for anything else, also where bits beyond the prefix are set.
    package init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let (bytes, isMapped) = Self.bytes(String(halves[0])), halves[1].utf8.count <= 3,
            halves[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), halves[1] == "0" || !halves[1].hasPrefix("0"),
            let length = Int(halves[1]), length <= (isMapped ? 32 : 128)
        else { return nil }
        bits = isMapped ? 96 + length : length
        guard Self.masked(bytes, bits) == bytes else { return nil }
        prefix = bytes
        description = text
    }

    /// Whether an address, in the text form of either family, lies in it.
    package func contains(_ address: String) -> Bool {
        guard let (bytes, _) = Self.bytes(address) else { return false }
        return Self.masked(bytes, bits) == prefix
    }

    private static func bytes(_ text: String) -> (bytes: [UInt8], isMapped: Bool)? {
        guard text.utf8.count <= 64, !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            return ([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes[..<4], true)
        }
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
        return (bytes, false)
    }

    private static func masked(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - index * 8))
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
    }
}
