import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// Keeps this process's memories coherent with the store, and knows how old they are.
///
/// Own commits are applied when they are made; this applies what other processes did, by the change log. What it knows is
/// as young as the last heartbeat that it read back: a server that was cut off from the others may go on answering.
package final class CacheInvalidator: Sendable {
    let store: any Database
    let policy: CurrentPolicy
    let environment: Environment
    private let node: ServingNode
    private let nonceGeneration: String?
    private let clock = ContinuousClock()
    private let state: Mutex<State>
    /// Called when this machine's clock begins and ends to differ too much from the store's; `true` when it ends.
    private let onClockChange: @Sendable (Bool) -> Void
    /// Called when this process has begun a log anew that another server wrote.
    private let onForeignLog: @Sendable () -> Void

    private struct State {
        var position: ChangePosition?
        var stamp: Int64?
        var heartbeats: Heartbeats<Heartbeat>
        /// Whether it takes more than a reading to tell that the store was reached.
        var needsHeartbeats = true
        /// For how many seconds at least the oldest transaction of the server has been open.
        var horizonAge: TimeInterval = 0
        /// Wakes the loop that polls; `nil` where none runs.
        var signal: LoopSignal?
        /// Seconds that this machine's clock is known to be ahead of the store's at least, or behind where negative.
        var clockDifference: TimeInterval = 0
    }

    /// Watches a store for a node.
    ///
    /// - Parameter nonceGeneration: the one that the node makes and knows nonces in; a restore begins another, and ends
    ///   this node. `nil` where that is not to be compared.
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

    /// Commits a heartbeat if it is time for one, and reads the changes since the last time.
    ///
    /// - Throws: `Refusal` `unavailable`, ``StoreRestored``, or what the store says.
    package func poll() async throws {
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
        // After the view was found to be young: nobody waits for these.
        try await node.settleSome()
    }

    /// Begins a heartbeat, if it is time for one.
    func beginBeat() -> Heartbeats<Heartbeat>.Beat? {
        state.withLock { state in
            guard state.needsHeartbeats else { return nil }
            state.heartbeats.maximumAge = maximumAge
            return state.heartbeats.begin(at: clock.now)
        }
    }

    /// Commits a heartbeat. A view that it can make younger is made so at once, where it is not young enough to wait.
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

    /// How long to wait before the next heartbeat; `nil` where the store needs none.
    var pauseBetweenBeats: Duration? {
        state.withLock { $0.needsHeartbeats ? $0.heartbeats.pause(at: clock.now) : nil }
    }

    /// Applies what happened since a position, page by page, or forgets everything where that cannot be told.
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
                // It may have been another server's.
                if reading.isInterrupted { state.heartbeats.forget() }
            }
        }
    }

    /// A log that came here as a dump is of no use before it begins anew. The next reading then finds another log.
    private func adoptLog() async throws {
        if try await store.reached({ try await store.adoptChangeLog() }) { onForeignLog() }
    }

    /// How many changes are read at once.
    private static let page = 1000

    /// A log that was begun anew is that of a restored store, or of one that was moved away: this process may go on in
    /// neither. Otherwise changes were missed, or another server took over.
    private func requireSameStore() async throws {
        let generation = try await store.reservedSnapshot { try RestoreRepository($0).nonceGeneration() }
        if let nonceGeneration, generation != nonceGeneration { throw StoreRestored() }
    }

    /// How far the change log was read.
    package var position: ChangePosition? { state.withLock { $0.position } }

    /// For how many seconds at least the oldest transaction of the store's server has been open, of whatever program:
    /// what it changes is known to nobody yet.
    package var horizonAge: TimeInterval { state.withLock { $0.horizonAge } }

    /// Compares the store's clock, read at some moment between two of this machine's, with this machine's.
    private func compareClock(of store: Date, from before: Date, to after: Date) {
        let difference = max(0, before.timeIntervalSince(store)) - max(0, store.timeIntervalSince(after))
        let wasRight = isClockRight
        state.withLock { $0.clockDifference = difference }
        if isClockRight != wasRight { onClockChange(!wasRight) }
    }

    /// Polls until the task is cancelled, and at once if a request met a change that was not read. A store that is away is
    /// tried again.
    ///
    /// - Parameter onFailure: told about the first failed try of a row, and again while it lasts, every ten seconds.
    /// - Throws: `StoreError.notUsable` once the store was moved: what this process remembers of it counts no more, not even
    ///   where the store is taken back into use. ``StoreRestored``.
    package func run(onFailure: @escaping @Sendable (any Error) -> Void) async throws {
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

    /// The shortest time between two polls, however often a request meets a change.
    private static let pause: Duration = .milliseconds(10)

    /// Refuses to decide from memories that are too old, or by a clock that is not the store's.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func requireFresh() throws(Refusal) {
        guard isFresh else {
            throw Refusal.staleView(age: age)
        }
        guard isClockRight else {
            throw Refusal.wrongClock(difference: clockDifference)
        }
    }

    /// Whether the view of the store is young enough to decide from.
    package var isFresh: Bool { clock.now - state.withLock { $0.heartbeats.freshAt } < maximumAge }

    /// Whether nothing was committed since the change log was read: what the memories say is what the store says.
    ///
    /// It takes some microseconds where the store is a file. A server does not say so without being asked: then `false`. What
    /// was committed since is read soon, without waiting for the next poll.
    var isCurrent: Bool {
        guard isFresh, isClockRight, !node.isDoubted, let stamp = try? store.changeStamp() else { return false }
        let (isCurrent, signal) = state.withLock { ($0.position != nil && $0.stamp == stamp, $0.signal) }
        if !isCurrent { signal?.ring() }
        return isCurrent
    }

    /// How old the view of the store is, in seconds.
    package var age: TimeInterval { (clock.now - state.withLock { $0.heartbeats.freshAt }) / .seconds(1) }

    /// Whether this machine's clock is near enough to the store's to decide by: tokens, certificates and the ends of
    /// sessions and bans are judged by it.
    package var isClockRight: Bool { clockDifference.magnitude <= policy[\.bans].maximumClockDifference }

    /// How many seconds this machine's clock is ahead of the store's, or behind where negative; what the way to the
    /// store may account for is not counted.
    package var clockDifference: TimeInterval { state.withLock { $0.clockDifference } }

    private var maximumAge: Duration { .seconds(policy[\.bans].maximumStaleness) }
}

/// The store was put back to an earlier state while this process had it open: the nonces that it makes and knows are of
/// before.
package struct StoreRestored: Error {
    package init() {}
}
