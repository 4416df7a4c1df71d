import Encoding
import Foundation
import NIOCore
import NIOPosix

/// Threads that ask the system's resolver for the addresses of hosts, so many at once: a name server that never answers
/// blocks one for long.
final class HostResolver: Sendable {
    /// For those who receive something: webhooks and streams.
    static let receivers = HostResolver(threads: 4)
    /// For issuers, so that theirs keep no event waiting.
    static let issuers = HostResolver(threads: 4)

    private let pool: NIOThreadPool
    private let lookUp: @Sendable (String) -> [IPAddress]

    /// - Parameter lookUp: asks for a host's addresses, and blocks meanwhile.
    init(threads: Int, lookUp: @escaping @Sendable (String) -> [IPAddress] = { HostAddresses.resolve($0) }) {
        pool = NIOThreadPool(numberOfThreads: threads)
        self.lookUp = lookUp
        pool.start()
    }

    /// Every address of a host; empty if it has none, or if the resolver is too slow.
    func callAsFunction(_ host: String, within seconds: Double) async -> [IPAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [IPAddress].self)
        // Whichever finishes first wins: neither can cancel the other.
        loop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) { promise.succeed([]) }
        let deadline = NIODeadline.now() + .milliseconds(Int64(seconds * 1000))
        // One that waited behind others until nobody asks any more keeps no thread.
        pool.runIfActive(eventLoop: loop) { [lookUp] in NIODeadline.now() < deadline ? lookUp(host) : [] }
            .whenComplete { promise.succeed((try? $0.get()) ?? []) }
        return (try? await promise.futureResult.get()) ?? []
    }
}

/// Resolves host names with the system's resolver.
enum HostAddresses {
    /// Every address of a host; empty if it has none. Blocks as long as the resolver does.
    static func resolve(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard getaddrinfo(bare, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = list
        while let entry = next?.pointee, addresses.count < 64 {
            if let address = address(entry) { addresses.append(address) }
            next = entry.ai_next
        }
        return addresses
    }

    private static func address(_ entry: addrinfo) -> IPAddress? {
        guard let pointer = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin_addr) { IPAddress(bytes: $0) }
            }
        case AF_INET6:
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { IPAddress(bytes: $0) }
            }
        default: return nil
        }
    }
}
