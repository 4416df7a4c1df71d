import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// Keeps this process's caches consistent with the store, and knows how old they are.
///
/// A process applies its own commits itself. This type applies commits of other processes, by the change log. The view
/// is as recent as the last heartbeat that was read back, because an isolated server may continue to answer.
package final class CacheInvalidator: Sendable {
    let store: any Database
    let policy: CurrentPolicy
    let environment: Environment
    private let node: ServingNode
    private let nonceGeneration: String?
    private let clock = ContinuousClock()
    private let state: Mutex<State>
    /// Called when the difference between this machine's clock and the store's begins and ends to be too large; `true`
    /// when it ends.
    private let onClockChange: @Sendable (Bool) -> Void
    /// Called after this process replaced a change log that another server wrote.
    private let onForeignLog: @Sendable () -> Void

    private struct State {
        var position: ChangePosition?
        var stamp: Int64?
        var heartbeats: Heartbeats<Heartbeat>
        /// Whether readings alone do not prove that the view is current.
        var needsHeartbeats = true
        /// The minimum age in seconds of the server's oldest open transaction.
        var horizonAge: TimeInterval = 0
        /// Wakes the polling loop; `nil` if none runs.
        var signal: LoopSignal?
        /// The minimum number of seconds by which this machine's clock is ahead of the store's; negative if it is slow.
        var clockDifference: TimeInterval = 0
    }

    /// - Parameter nonceGeneration: the node's generation of nonces. A restore starts another one and ends this node.
    ///   `nil` if it must not be compared.
    package init(
        store: any Database, node: ServingNode, policy: CurrentPolicy, environment: Environment,
        nonceGeneration: String? = nil,
        onForeignLog: @escaping @Sendable () -> Void = {},
        onClockChange: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.store = store
        self.node = node
        self.policy = policy
        self.environment = environment
        self.nonceGeneration = nonceGeneration
        self.onForeignLog = onForeignLog
        self.onClockChange = onClockChange
        state = Mutex(
            State(
                heartbeats: Heartbeats(
                    at: clock.now, maximumAge: .seconds(policy[\.bans].maximumStaleness), most: Heartbeat.mostUnderWay))
        )
    }

    /// Begins a heartbeat, if it is due.
    func beginBeat() -> Heartbeats<Heartbeat>.Beat? {
        state.withLock { state in
            guard state.needsHeartbeats else { return nil }
            state.heartbeats.maximumAge = maximumAge
            return state.heartbeats.begin(at: clock.now)
        }
    }

    /// Commits a heartbeat. If the view is too old to wait for the next poll, the changes are read at once.
    func commit(_ beat: Heartbeats<Heartbeat>.Beat) async throws {
        do {
            let commit = try await store.reached { try await store.heartbeat() }
            let signal = state.withLock { state -> LoopSignal? in
                if commit == nil { state.needsHeartbeats = false }
                state.heartbeats.end(beat, commit)
                return state.heartbeats.wantsReading(at: clock.now) ? state.signal : nil
            }
            signal?.ring()
        } catch {
            state.withLock { $0.heartbeats.end(beat, nil) }
            throw error
        }
    }

    /// How long to wait before the next heartbeat; `nil` if the store needs none.
    var pauseBetweenBeats: Duration? {
        state.withLock { $0.needsHeartbeats ? $0.heartbeats.pause(at: clock.now) : nil }
    }

    /// Whether nothing was committed since the change log was read, so that the caches equal the store.
    ///
    /// With SQLite it takes some microseconds. With a server it is always `false`, because that would need a query.
    /// Later commits are read soon, without waiting for the next poll.
    var isCurrent: Bool {
        guard isFresh, isClockRight, !node.isDoubted, let stamp = try? store.changeStamp() else { return false }
        let (isCurrent, signal) = state.withLock { ($0.position != nil && $0.stamp == stamp, $0.signal) }
        if !isCurrent { signal?.ring() }
        return isCurrent
    }
}

package extension CacheInvalidator {
    /// The store was restored to an earlier state while this process had it open, so the process's key of nonces is
    /// outdated.
    struct StoreRestored: Error {}

    /// Commits a heartbeat if it is due, and reads the changes since the last time.
    ///
    /// - Throws: `Refusal` `unavailable`, ``CacheInvalidator/StoreRestored``, or the store's error.
    func poll() async throws {
        if let beat = beginBeat() { try await commit(beat) }
        try await look()
    }

    /// Reads the changes since the last time.
    private func look() async throws {
        let started = clock.now
        let stamp = try store.changeStamp()
        if node.endDoubt() { state.withLock { $0.stamp = nil } }
        let known = state.withLock { $0 }
        if known.position == nil || known.stamp != stamp {
            try await catchUp(from: known.position)
        }
        state.withLock { state in
            state.stamp = stamp
            if !state.needsHeartbeats {
                state.heartbeats.read(begunAt: started)
            } else if let position = state.position {
                state.heartbeats.read { position.shows($0) }
            }
        }
        // After the view was found current, because no request waits for these.
        try await node.settleSome()
    }

    /// Applies the changes since a position, page by page, or drops all caches if the changes are unknown.
    private func catchUp(from known: ChangePosition?) async throws {
        var position: ChangePosition
        if let known {
            position = known
        } else {
            try await adoptLog()
            position = try await store.reached { try await store.changePosition() }
            try await requireSameStore()
        }
        var isAtEnd = false
        while !isAtEnd {
            let (from, before) = (position, environment.now())
            let reading = try await store.reached { try await store.changes(after: from, limit: Self.page) }
            if let now = reading.now { compareClock(of: now, from: before, to: environment.now()) }
            if reading.isInterrupted {
                try await requireSameStore()
                try await adoptLog()
                node.forgetAll()
            }
            let changes = reading.changes.compactMap(ChangeLog.Change.init)
            try await node.apply(changes)
            if !changes.isEmpty { node.wakeOutbox() }
            position = reading.position
            isAtEnd = !reading.hasMore
            state.withLock { state in
                state.position = reading.position
                state.horizonAge = reading.horizonAge
                // The heartbeats may be those of another server.
                if reading.isInterrupted { state.heartbeats.forget() }
            }
        }
    }

    /// Replaces the log of a restored dump, which is of no use here. The next reading then finds another log.
    private func adoptLog() async throws {
        if try await store.reached({ try await store.adoptChangeLog() }) { onForeignLog() }
    }

    /// The number of changes that are read at once.
    private static let page = 1000

    /// A replaced log belongs to a restored store, or to a store that was moved. This process must end in both cases.
    /// Otherwise changes were missed, or another server took over.
    private func requireSameStore() async throws {
        let generation = try await store.reservedSnapshot { try RestoreRepository($0).nonceGeneration() }
        if let nonceGeneration, generation != nonceGeneration { throw StoreRestored() }
    }

    /// How far the change log was read.
    var position: ChangePosition? { state.withLock { $0.position } }

    /// The minimum age in seconds of the oldest transaction on the store's server, of any program. Its changes are not
    /// visible yet.
    var horizonAge: TimeInterval { state.withLock { $0.horizonAge } }

    /// Compares the store's clock, read between two times of this machine, with this machine's clock.
    private func compareClock(of store: Date, from before: Date, to after: Date) {
        let difference = max(0, before.timeIntervalSince(store)) - max(0, store.timeIntervalSince(after))
        let wasRight = isClockRight
        state.withLock { $0.clockDifference = difference }
        if isClockRight != wasRight { onClockChange(!wasRight) }
    }

    /// Polls until the task is cancelled, and at once if a request found an unread change. An unavailable store is
    /// tried again.
    ///
    /// - Parameter onFailure: called with the first of consecutive failures, and every ten seconds while they last.
    /// - Throws: `StoreError.notUsable` after the store was moved. This process's caches are then invalid, even if the
    ///   store is reopened. ``CacheInvalidator/StoreRestored``.
    func run(onFailure: @escaping @Sendable (any Error) -> Void) async throws {
        let signal = LoopSignal()
        state.withLock { $0.signal = signal }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [policy] in
                while !Task.isCancelled {
                    signal.ring()
                    try? await Task.sleep(for: .seconds(policy[\.bans].changePollInterval))
                }
            }
            let (looks, beats) = (FailureReports(onFailure), FailureReports(onFailure))
            group.addTask { [self] in await runHeartbeats(beats) }
            for await _ in signal.rings {
                do {
                    try await look()
                    looks.end()
                } catch let restored as StoreRestored {
                    throw restored
                } catch {
                    if (error as? Refusal)?.reason == .storeMoved { try await store.requireUsable() }
                    looks.tell(error)
                }
                try? await Task.sleep(for: Self.pause)
            }
            group.cancelAll()
        }
    }

    /// The shortest time between two polls, however often requests find changes.
    private static let pause: Duration = .milliseconds(10)

    /// Refuses to decide if the caches are too old, or the clock differs from the store's.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func requireFresh() throws(Refusal) {
        guard isFresh else {
            throw Refusal.staleView(age: age)
        }
        guard isClockRight else {
            throw Refusal.wrongClock(difference: clockDifference)
        }
    }

    /// Whether the view of the store is recent enough for decisions.
    var isFresh: Bool { clock.now - state.withLock { $0.heartbeats.freshAt } < maximumAge }

    /// The age of the view of the store, in seconds.
    var age: TimeInterval { (clock.now - state.withLock { $0.heartbeats.freshAt }) / .seconds(1) }

    /// Whether this machine's clock is close enough to the store's. The validity of tokens and certificates, and the
    /// ends of sessions and bans, depend on it.
    var isClockRight: Bool { clockDifference.magnitude <= policy[\.bans].maximumClockDifference }

    /// How many seconds this machine's clock is ahead of the store's; negative if it is slow. The duration of the query
    /// is subtracted.
    var clockDifference: TimeInterval { state.withLock { $0.clockDifference } }

    private var maximumAge: Duration { .seconds(policy[\.bans].maximumStaleness) }
}
