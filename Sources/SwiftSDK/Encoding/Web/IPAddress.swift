import Foundation

/// An IP address, of version 4 or 6.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    public let bytes: [UInt8]

    /// Takes 4 or 16 bytes in network order; `nil` for any other number.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Parses an address of either version.
    public init?(_ text: String) {
        guard let address = IPAddress(ipv4: text) ?? IPAddress(ipv6: text) else { return nil }
        self = address
    }

    /// Four decimal numbers without leading zeros (RFC 6943 §3.1.1, the strict form), and no other form.
    public init?(ipv4 text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in UInt8(part).flatMap { String($0) == part ? $0 : nil } }
        guard parts.count == 4, numbers.count == 4 else { return nil }
        bytes = numbers
    }

    /// RFC 4291 §2.2, without a zone.
    public init?(ipv6 text: String) {
        var address = in6_addr()
        guard text.utf8.count <= 64, !text.utf8.contains(0), inet_pton(AF_INET6, text, &address) == 1 else {
            return nil
        }
        bytes = withUnsafeBytes(of: address) { Array($0) }
    }
}

public extension IPAddress {
    /// The numeric form, for IPv6 that of RFC 5952.
    var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), or else the address itself.
    var unmapped: IPAddress {
        guard bytes.count == 16, bytes.starts(with: Self.mappedPrefix) else { return self }
        return IPAddress(bytes: bytes[12...]) ?? self
    }

    /// 16 bytes, for IPv4 the IPv4-mapped form: listeners on `::` and `0.0.0.0` thus treat an address alike.
    var mapped: [UInt8] { bytes.count == 4 ? Self.mappedPrefix + bytes : bytes }

    private static let mappedPrefix: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The sender's address as limits count it: an IPv4 address, or the /64 network of an IPv6 address. The network
    /// is its eight bytes in decimal, as in `32.1.13.184.0.1.2.3/64`.
    var limitKey: String {
        let address = unmapped
        guard address.bytes.count == 16 else { return address.description }
        return address.bytes[..<8].map(String.init).joined(separator: ".") + "/64"
    }

    /// Whether it is a loopback address: 127.0.0.0/8 (RFC 1122 §3.2.1.3) or ::1.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes.first == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether it is globally reachable by the IANA special-purpose registries (RFC 6890).
    var isPublic: Bool {
        bytes.count == 4 ? Self.isPublic4(bytes) : Self.isPublic6(bytes)
    }

    private static func isPublic4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64..<128, _), (169, 254, _), (172, 16..<32, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    /// Global unicast (2000::/3) only, without ranges that embed or document other addresses.
    private static func isPublic6(_ bytes: [UInt8]) -> Bool {
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0D, 0xB8), (0x20, 0x02, _, _), (0x3F, 0xFF, _, _):
            return false
        default: return true
        }
    }
}
