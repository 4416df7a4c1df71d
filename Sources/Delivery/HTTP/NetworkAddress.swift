import Foundation
import NIOCore
import NIOPosix

/// An address of a host, and whether it lies in the public Internet.
struct NetworkAddress: Sendable, Equatable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    /// The resolver's threads, apart from those of other work: a name server that never answers holds one for long.
    private static let resolvers: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 4)
        pool.start()
        return pool
    }()

    /// Every address of a host; none where it has none, or where the resolver is too slow.
    static func resolve(_ host: String, within seconds: Double) async -> [NetworkAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [NetworkAddress].self)
        // Who answers first counts: neither can be called off by the other.
        loop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) { promise.succeed([]) }
        resolvers.runIfActive(eventLoop: loop) { resolve(host) }.whenComplete { promise.succeed((try? $0.get()) ?? []) }
        return (try? await promise.futureResult.get()) ?? []
    }

    /// Every address of a host; none where it has none. Takes as long as the resolver does.
    static func resolve(_ host: String) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard getaddrinfo(bare, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next?.pointee, addresses.count < 64 {
            if let address = NetworkAddress(entry) { addresses.append(address) }
            next = entry.ai_next
        }
        return addresses
    }

    private init?(_ entry: addrinfo) {
        guard let pointer = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            bytes = pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            bytes = pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
    }

    /// The other end of a connection; `nil` for what is no Internet address.
    init?(_ peer: SocketAddress?) {
        switch peer {
        case .v4(let address): bytes = withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        default: return nil
        }
    }

    /// Takes bytes in network order.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Four decimal numbers without leading zeros (RFC 6943 §3.1.1, the strict form), and no other form.
    init?(ipv4 text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in UInt8(part).flatMap { String($0) == part ? $0 : nil } }
        guard parts.count == 4, numbers.count == 4 else { return nil }
        bytes = numbers
    }

    /// RFC 4291 §2.2, without a zone.
    init?(ipv6 text: String) {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        bytes = withUnsafeBytes(of: address) { Array($0) }
    }

    /// The address in numbers, IPv6 as RFC 5952 writes it.
    var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether it is this machine: 127.0.0.0/8 or ::1.
    var isLoopback: Bool {
        bytes.count == 4
            ? bytes[0] == 127 : bytes.count == 16 && bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// Whether the IANA special-purpose registries (RFC 6890) leave it to the public Internet.
    var isPublic: Bool {
        bytes.count == 4 ? Self.isPublic4(bytes) : bytes.count == 16 && Self.isPublic6(bytes)
    }

    private static func isPublic4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64..<128, _), (169, 254, _), (172, 16..<32, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    /// Global unicast alone (2000::/3), without what embeds or documents other addresses.
    private static func isPublic6(_ bytes: [UInt8]) -> Bool {
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0D, 0xB8), (0x20, 0x02, _, _), (0x3F, 0xFF, _, _):
            return false
        default: return true
        }
    }
}
