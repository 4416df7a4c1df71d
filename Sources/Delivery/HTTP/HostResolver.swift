import Domain
import Encoding
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Asks the system's resolver for the addresses of hosts that others name.
///
/// A name server that never answers blocks its thread for as long as `resolv.conf` allows; nothing ends that earlier.
/// So each look-up has its own thread, and an owner has ``atOnceForOwner`` of them at most. No owner waits for
/// another's look-ups. If an owner may not begin another one, the host is reported as having no address.
///
/// The system's resolver does not report for how long an address is valid. So addresses are remembered for ``kept``.
/// That a host has no address, or was not answered in time, is remembered for ``failureKept``.
final class HostResolver: Sendable {
    /// The resolver that the whole process shares.
    static let shared = HostResolver()

    /// The largest number of look-ups under way for all owners: the threads that name servers can block.
    static let atOnce = 64
    /// The largest number of look-ups under way for one owner.
    static let atOnceForOwner = 2
    /// A trusted root has more, because many issuers below it have their hosts.
    static let atOnceForRoot = 4
    /// The largest number of remembered hosts of one owner.
    static let hostsOfOwner = 64
    static let kept = TimeAmount.seconds(30)
    static let failureKept = TimeAmount.seconds(60)

    private struct Known {
        let addresses: [IPAddress]
        let until: NIODeadline
    }

    private struct Owned {
        var underWay: [String: EventLoopFuture<[IPAddress]>] = [:]
        var known: [String: Known] = [:]

        mutating func learn(_ addresses: [IPAddress], of host: String, at now: NIODeadline) {
            known = known.filter { $0.value.until > now }
            if known.count >= HostResolver.hostsOfOwner, known[host] == nil,
                let oldest = known.min(by: { $0.value.until < $1.value.until })
            {
                known[oldest.key] = nil
            }
            let time = addresses.isEmpty ? HostResolver.failureKept : HostResolver.kept
            known[host] = Known(addresses: addresses, until: now + time)
        }
    }

    private let owners = Mutex<[HostOwner: Owned]>([:])
    private let now: @Sendable () -> NIODeadline
    private let lookUp: @Sendable (String) -> [IPAddress]

    /// - Parameter lookUp: resolves a host; blocks until the resolver answers.
    init(
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        lookUp: @escaping @Sendable (String) -> [IPAddress] = { HostAddresses.resolve($0) }
    ) {
        (self.now, self.lookUp) = (now, lookUp)
    }

    private enum Start {
        case known([IPAddress])
        case underWay(EventLoopFuture<[IPAddress]>)
        case begun(EventLoopPromise<[IPAddress]>)
    }

    /// Every address of a host; empty if it has none, if the resolver is too slow, or if the owner has too many
    /// look-ups under way.
    func callAsFunction(_ host: String, of owner: HostOwner, within seconds: Double) async -> [IPAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let found: EventLoopFuture<[IPAddress]>
        switch start(host, owner, on: loop) {
        case .known(let addresses): return addresses
        case .underWay(let future): found = future
        case .begun(let promise):
            found = promise.futureResult
            Thread.detachNewThread { [self] in
                let addresses = lookUp(host)
                end(host, owner, addresses)
                promise.succeed(addresses)
            }
        }
        // Whichever finishes first wins: neither can cancel the other.
        let first = loop.makePromise(of: [IPAddress]?.self)
        let alarm = loop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) { first.succeed(nil) }
        found.whenComplete { result in
            alarm.cancel()
            first.succeed((try? result.get()) ?? [])
        }
        if let addresses = try? await first.futureResult.get() { return addresses }
        owners.withLock { owners in
            guard owners[owner]?.underWay[host] != nil else { return }
            owners[owner]?.learn([], of: host, at: now())
        }
        return []
    }

    private func start(_ host: String, _ owner: HostOwner, on loop: any EventLoop) -> Start {
        owners.withLock { owners in
            let now = now()
            if let known = owners[owner]?.known[host], known.until > now { return .known(known.addresses) }
            if let found = owners[owner]?.underWay[host] { return .underWay(found) }
            // Forgets owners without look-ups and remembered hosts.
            owners = owners.filter { !$0.value.underWay.isEmpty || $0.value.known.contains { $0.value.until > now } }
            guard owners[owner]?.underWay.count ?? 0 < owner.lookUpsAtOnce,
                owners.reduce(0, { $0 + $1.value.underWay.count }) < Self.atOnce
            else { return .known([]) }
            let promise = loop.makePromise(of: [IPAddress].self)
            owners[owner, default: Owned()].underWay[host] = promise.futureResult
            return .begun(promise)
        }
    }

    private func end(_ host: String, _ owner: HostOwner, _ addresses: [IPAddress]) {
        owners.withLock { owners in
            owners[owner, default: Owned()].underWay[host] = nil
            owners[owner, default: Owned()].learn(addresses, of: host, at: now())
        }
    }
}
