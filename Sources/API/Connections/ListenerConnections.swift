import Domain
import Encoding
import Foundation
import HummingbirdCore
import Logging
import Metrics
import NIOCore
import Operations
import Synchronization

/// The open connections of one listener. Limits them by address, network and certificate, and closes the longest idle
/// one if there are too many.
final class ListenerConnections: Sendable {
    private struct State {
        var census: ConnectionCensus<ObjectIdentifier>
        var activities: [ObjectIdentifier: ConnectionActivity] = [:]
    }

    let name: String
    /// The streams that connections have beyond their first ones.
    let shares: StreamShares
    private let total: Int
    private let state: Mutex<State>
    private let isWaiting = Atomic<Bool>(false)
    private let isLooking = Atomic<Bool>(false)
    private static let pause = TimeAmount.milliseconds(500)
    private let log: SampledLog

    init(name: String, limits: ConnectionCensus<ObjectIdentifier>.Limits, logger: Logger) {
        self.name = name
        total = limits.total
        shares = StreamShares(limits.networks)
        state = Mutex(State(census: ConnectionCensus(limits: limits)))
        log = SampledLog(logger: logger)
    }

    var count: Int { state.withLock { $0.census.count } }

    /// Takes a share of the streams of a peer's networks; `false` if none is left, which the log says.
    func takeShare(at address: String?) -> Bool {
        guard !shares.take(at: address) else { return true }
        log.warning("a stream was refused: its network has too many", kind: "streams", ["listener": .string(name)])
        return false
    }

    /// Records an accepted connection; `nil` if its address has too many and all are active.
    func insert(_ channel: any Channel, from address: String?) -> ConnectionActivity? {
        let id = ObjectIdentifier(channel)
        let activity = ConnectionActivity(channel, of: self)
        activity.locate(address)
        let taken = decide("address") { state, now in
            state.activities[id] = activity
            let activities = state.activities
            return state.census.insert(id, from: address, now: now) { Self.activity(of: $0, activities) }
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.census.remove(id)
                state.activities[id] = nil
            }
        }
        if taken, state.withLock({ $0.census.count }) > total { makeRoomForOne() }
        return taken ? activity : nil
    }

    /// Records the address that a proxy reported; `false` if it has too many connections.
    func locate(_ channel: any Channel, at address: String) -> Bool {
        let id = ObjectIdentifier(channel)
        return decide("address") { state, now in
            let activities = state.activities
            activities[id]?.locate(address)
            return state.census.locate(id, at: address, now: now) { Self.activity(of: $0, activities) }
        }
    }

    /// Records the client's certificate; `false` if it has too many connections.
    func bind(_ channel: any Channel, to certificate: Digest256) -> Bool {
        let id = ObjectIdentifier(channel)
        return decide("certificate") { state, now in
            let activities = state.activities
            return state.census.bind(id, to: certificate, now: now) { Self.activity(of: $0, activities) }
        }
    }

    private func decide(
        _ reason: String, _ body: @Sendable (inout State, UInt64) -> ConnectionCensus<ObjectIdentifier>.Verdict
    ) -> Bool {
        let now = NIODeadline.now().uptimeNanoseconds
        let (verdict, leaving) = state.withLock { state in
            let verdict = body(&state, now)
            guard case .taken(let other?) = verdict else { return (verdict, nil as ConnectionActivity?) }
            return (verdict, state.activities[other])
        }
        if let leaving {
            count("connections_gave_way", reason)
            leaving.giveWay()
        }
        guard verdict == .refused else { return true }
        count("connections_refused", reason)
        log.warning("a connection was refused: its \(reason) has too many", kind: reason, ["listener": .string(name)])
        return false
    }

    /// Whether another connection may be accepted: at most one above the limit, since an idle one is closed only after
    /// it arrives. Others wait in the kernel's queue, whose length is not known.
    func hasRoom(_ open: Int) -> Bool {
        guard open > total else { return true }
        count("connections_waited", "full")
        return false
    }

    /// Closes the longest idle connection, because there is one too many. If none is idle, the first that has answered
    /// is closed.
    private func makeRoomForOne() {
        log.warning(
            "the listener is full: idle connections are closed, new ones wait", kind: "full",
            ["listener": .string(name), "connections": .stringConvertible(total)])
        // Set before the search, so that no connection becomes idle unnoticed after it.
        isWaiting.store(true, ordering: .relaxed)
        makeRoom()
    }

    /// Asks the longest idle connection to close. Tries again later if none is idle.
    private func makeRoom() {
        let now = NIODeadline.now().uptimeNanoseconds
        let (leaving, any) = state.withLock { state in
            let activities = state.activities
            let id = state.census.makeRoom(now: now) { Self.activity(of: $0, activities) }
            return (id.flatMap { state.activities[$0] }, state.activities.values.first)
        }
        guard let leaving else {
            if !isLooking.exchange(true, ordering: .relaxed) {
                any?.channel.eventLoop.scheduleTask(in: Self.pause) { [self] in
                    isLooking.store(false, ordering: .relaxed)
                    if isWaiting.load(ordering: .relaxed) { makeRoom() }
                }
            }
            return
        }
        isWaiting.store(false, ordering: .relaxed)
        count("connections_gave_way", "full")
        leaving.giveWay()
    }

    /// Counts a connection again that could not close. If there are too many, another one is requested to close.
    func keep(_ channel: any Channel) {
        let isFull = state.withLock { state in
            state.census.keep(ObjectIdentifier(channel))
            return state.census.count > total
        }
        if isFull { makeRoomForOne() }
    }

    /// Whether a connection waits. The caller then closes the longest idle one.
    func isWaitedFor() -> Bool {
        isWaiting.load(ordering: .relaxed) && isWaiting.exchange(false, ordering: .relaxed)
    }

    private func count(_ label: String, _ reason: String) {
        Counter(label: label, dimensions: [("listener", name), ("reason", reason)]).increment()
    }

    private static func activity(
        of id: ObjectIdentifier, _ activities: [ObjectIdentifier: ConnectionActivity]
    ) -> ConnectionCensus<ObjectIdentifier>.Activity {
        activities[id]?.value ?? .busy
    }
}

/// Reports when the HTTP library may accept connections. It has its own count: elsewhere a closed connection is removed
/// later (Upstream.md).
struct AvailableConnections: AvailableConnectionsDelegate {
    let connections: ListenerConnections
    private var open = 0

    init(_ connections: ListenerConnections) {
        self.connections = connections
    }

    mutating func connectionOpened() { open += 1 }

    mutating func connectionClosed() { open -= 1 }

    func isAcceptingNewConnections() -> Bool { connections.hasRoom(open) }
}

/// All connections of the listeners in any state. A shutdown that takes too long closes them.
package final class OpenChannels: Sendable {
    private let open = Mutex<[ObjectIdentifier: any Channel]>([:])

    package init() {}

    func insert(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        open.withLock { $0[key] = channel }
        channel.closeFuture.whenComplete { [self] _ in open.withLock { $0[key] = nil } }
    }
}

package extension OpenChannels {
    var count: Int { open.withLock { $0.count } }

    /// Closes all connections at once, even with unsent answers.
    func closeAll() {
        let all = open.withLock { Array($0.values) }
        for channel in all { channel.close(promise: nil) }
    }
}

package final class ConnectionTable: Sendable {
    private let open = Mutex<[ConnectionID: ClientConnection]>([:])

    package init() {}

    func insert(_ connection: ClientConnection) {
        open.withLock { $0[connection.id] = connection }
    }

    func remove(_ connection: ClientConnection) {
        connection.disconnect()
        open.withLock { $0[connection.id] = nil }
    }
}

package extension ConnectionTable {
    var count: Int { open.withLock { $0.count } }

    /// Closes connections whose certificate is not valid at a time.
    func closeInvalid(at now: Date) {
        let all = open.withLock { Array($0.values) }
        for connection in all where !connection.isValid(at: now) { connection.close() }
    }

    /// Closes connections whose certificate is not valid, which the caller decides. A new one has the time to get the
    /// page that says so.
    func close(unless isValid: (Digest256) async -> Bool) async {
        let all = open.withLock { Array($0.values) }
        var invalid: [ClientConnection] = []
        for connection in all {
            if await !isValid(connection.thumbprint) { invalid.append(connection) }
        }
        guard !invalid.isEmpty else { return }
        try? await Task.sleep(for: .milliseconds(250))
        for connection in invalid { connection.close() }
    }

    /// Detaches users' sessions from all connections, and closes connections without another user.
    func detach(_ users: Set<UserID>) {
        let all = open.withLock { Array($0.values) }
        for connection in all { connection.detach(users) }
    }
}

/// The connection of the current task. It is set once for each connection; HTTP/2 streams inherit it.
struct CurrentConnection: Sendable {
    /// All of it at once: each value of a task has calls of its own, which stay in memory with the connection.
    @TaskLocal static var current = CurrentConnection()

    var value: ClientConnection?
    var peerAddress: SocketAddress?
    var requestIDs: RequestIDs?
}

extension IPAddress {
    /// The address of a socket; `nil` if it is not an IP address.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress, let address = IPAddress(text) else { return nil }
        self = address
    }

    /// The key for limits by sender. All senders without an IP address share one.
    static func limitKey(_ address: IPAddress?) -> String { address?.limitKey ?? "local" }
}
