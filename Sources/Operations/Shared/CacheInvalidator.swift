import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// Keeps this process's memories coherent with the store, and knows how old they are.
///
/// Own commits are applied when they are made; this applies what other processes did, by the change counter.
package final class CacheInvalidator: Sendable {
    let store: any Database
    let policy: CurrentPolicy
    let environment: Environment
    private let node: ServingNode
    private let clock = ContinuousClock()
    private let state: Mutex<State>
    /// Called when this machine's clock begins and ends to differ too much from the store's; `true` when it ends.
    private let onClockChange: @Sendable (Bool) -> Void

    private struct State {
        var sequence: Int64?
        var stamp: Int64?
        var freshAt: ContinuousClock.Instant
        /// Seconds that this machine's clock is known to be ahead of the store's at least, or behind where negative.
        var clockDifference: TimeInterval = 0
    }

    /// Watches a store for a node.
    package init(
        store: any Database, node: ServingNode, policy: CurrentPolicy, environment: Environment,
        onClockChange: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.store = store
        self.node = node
        self.policy = policy
        self.environment = environment
        self.onClockChange = onClockChange
        state = Mutex(State(sequence: nil, stamp: nil, freshAt: clock.now))
    }

    /// Reads the changes since the last time.
    ///
    /// - Throws: `Refusal` `unavailable`, or what the store says.
    package func poll() async throws {
        let started = clock.now
        let stamp = try store.changeStamp()
        if node.endDoubt() { state.withLock { $0.stamp = nil } }
        let known = state.withLock { $0 }
        if known.sequence == nil || known.stamp != stamp {
            try await catchUp(after: known.sequence)
        }
        state.withLock { state in
            state.stamp = stamp
            state.freshAt = started
        }
    }

    /// Applies what happened since a change, or forgets everything where that can no longer be told.
    private func catchUp(after sequence: Int64?) async throws {
        let before = environment.now()
        let (reading, now) = try await store.reservedSnapshot { transaction in
            let records = ChangeLog(transaction)
            let reading = try sequence.map(records.read(after:)) ?? .none(last: try records.last())
            // Behind the first statement, with which it comes: asked before it costs a wait of its own.
            return (reading, transaction.now)
        }
        compareClock(of: now, from: before, to: environment.now())
        guard reading.isWhole else {
            // Numbers leave no gap. Either the oldest are forgotten already, or a store that was behind took this one's
            // place (a standby, a backup).
            try await node.forgetAll()
            return state.withLock { $0.sequence = reading.last }
        }
        try await node.apply(reading.changes)
        if let sequence, reading.last != sequence { node.wakeOutbox() }
        state.withLock { $0.sequence = max($0.sequence ?? reading.last, reading.last) }
    }

    /// Compares the store's clock, read at some moment between two of this machine's, with this machine's.
    private func compareClock(of store: Date, from before: Date, to after: Date) {
        let difference = max(0, before.timeIntervalSince(store)) - max(0, store.timeIntervalSince(after))
        let wasRight = isClockRight
        state.withLock { $0.clockDifference = difference }
        if isClockRight != wasRight { onClockChange(!wasRight) }
    }

    /// Polls until the task is cancelled; a store that is away is tried again.
    ///
    /// - Parameter onFailure: told about the first failed try of a row, and again while it lasts, every ten seconds.
    /// - Throws: `StoreError.notUsable` once the store was moved: what this process remembers of it counts no more, not even
    ///   where the store is taken back into use.
    package func run(onFailure: @Sendable (any Error) -> Void) async throws {
        var toldAt: ContinuousClock.Instant?
        while !Task.isCancelled {
            do {
                try await poll()
                toldAt = nil
            } catch {
                if (error as? Refusal)?.reason == .storeMoved { try await store.requireUsable() }
                if toldAt.map({ clock.now - $0 >= .seconds(10) }) ?? true {
                    toldAt = clock.now
                    onFailure(error)
                }
            }
            try? await Task.sleep(for: .seconds(policy[\.bans].changePollInterval))
        }
    }

    /// Refuses to decide from memories that are too old, or by a clock that is not the store's.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func requireFresh() throws(Refusal) {
        guard isFresh else {
            throw Refusal(
                .unavailable, "This node's view of the store is too old to decide from; nothing was changed.",
                retryAfter: 1, privateDetail: "last read of the change counter was \(age) s ago")
        }
        guard isClockRight else {
            throw Refusal(
                .unavailable, "This node's clock differs too much from the store's; nothing was changed.",
                retryAfter: 5, privateDetail: "the clock is \(clockDifference) s ahead of the store's")
        }
    }

    /// Whether the view of the store is young enough to decide from.
    package var isFresh: Bool { clock.now - state.withLock { $0.freshAt } < maximumAge }

    /// How old the view of the store is, in seconds.
    package var age: TimeInterval { (clock.now - state.withLock { $0.freshAt }) / .seconds(1) }

    /// Whether this machine's clock is near enough to the store's to decide by: tokens, certificates and the ends of
    /// sessions and bans are judged by it.
    package var isClockRight: Bool { clockDifference.magnitude <= policy[\.bans].maximumClockDifference }

    /// How many seconds this machine's clock is ahead of the store's, or behind where negative; what the way to the
    /// store may account for is not counted.
    package var clockDifference: TimeInterval { state.withLock { $0.clockDifference } }

    private var maximumAge: Duration { .seconds(policy[\.bans].maximumStaleness) }
}
