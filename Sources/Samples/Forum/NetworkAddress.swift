import Foundation
import NIOCore
import NIOPosix

/// An IP address, and whether it belongs to the public Internet (RFC 6890 and IANA's registries of special addresses).
struct NetworkAddress: Sendable {
    let text: String
    private let bytes: [UInt8]

    /// The addresses of a host name, or of an address in any spelling.
    static func resolve(_ name: String) async throws -> [NetworkAddress] {
        try await NIOThreadPool.singleton.runIfActive { lookUp(name) }
    }

    private static func lookUp(_ name: String) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: [NetworkAddress] = []
        for entry in sequence(first: first, next: { $0?.pointee.ai_next }) {
            guard let entry, let address = entry.pointee.ai_addr else { break }
            if let read = NetworkAddress(address, family: entry.pointee.ai_family) { found.append(read) }
        }
        return found
    }

    private init?(_ address: UnsafeMutablePointer<sockaddr>, family: Int32) {
        switch family {
        case AF_INET:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    var isLoopback: Bool { bytes.count == 4 ? bytes.first == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1] }

    var isPublic: Bool { !isIn(bytes.count == 4 ? Self.special4 : Self.special6) && (bytes.count == 4 || isGlobal6) }

    /// IPv6 hosts use only 2000::/3. Addresses that contain IPv4 addresses (mapped, NAT64) are outside of it.
    private var isGlobal6: Bool { bytes.first.map { $0 & 0xE0 == 0x20 } ?? false }

    private static let special4: [(prefix: [UInt8], bits: Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 3),
    ]
    /// 2001::/23 includes Teredo, 2002::/16 is 6to4, and the rest are for documentation.
    private static let special6: [(prefix: [UInt8], bits: Int)] = [
        ([0x20, 0x01, 0, 0], 23), ([0x20, 0x02], 16), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x3F, 0xFF, 0], 20),
    ]

    private func isIn(_ networks: [(prefix: [UInt8], bits: Int)]) -> Bool {
        networks.contains { network in
            (0..<network.bits).allSatisfy { bit in
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                let wanted = bit / 8 < network.prefix.count ? network.prefix[bit / 8] : 0
                return bytes[bit / 8] & mask == wanted & mask
            }
        }
    }
}
