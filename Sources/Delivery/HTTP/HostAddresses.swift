import Encoding
import Foundation
import NIOCore
import NIOPosix

/// Resolves host names with the system's resolver.
enum HostAddresses {
    /// Own threads for the resolver: a name server that never answers blocks one for long.
    private static let resolvers: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 4)
        pool.start()
        return pool
    }()

    /// Every address of a host; empty if it has none, or if the resolver is too slow.
    static func resolve(_ host: String, within seconds: Double) async -> [IPAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [IPAddress].self)
        // Whichever finishes first wins: neither can cancel the other.
        loop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) { promise.succeed([]) }
        let deadline = NIODeadline.now() + .milliseconds(Int64(seconds * 1000))
        // One that waited behind others until nobody asks any more keeps no thread.
        resolvers.runIfActive(eventLoop: loop) { NIODeadline.now() < deadline ? resolve(host) : [] }.whenComplete {
            promise.succeed((try? $0.get()) ?? [])
        }
        return (try? await promise.futureResult.get()) ?? []
    }

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
