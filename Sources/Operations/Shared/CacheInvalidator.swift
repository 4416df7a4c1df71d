import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// Keeps this process's memories coherent with the store, and knows how old they are.
///
/// Own writes are applied by those who make them; this applies what other processes did, by the change counter.
package final class CacheInvalidator: Sendable {
    private let store: any Database
    private let sessions: SessionCache
    private let certificates: CertificateCache
    private let providers: ProviderCache
    private let policy: CurrentPolicy
    private let environment: Environment
    private let clock = ContinuousClock()
    private let state: Mutex<State>
    /// Told after devices' certificates were read anew, so that connections which no longer count can be closed.
    private let onDeviceChange: @Sendable (Set<DeviceID>) -> Void
    /// Told after banned users' sessions were dropped, so that their connections can be closed, or rid of them.
    private let onUserBan: @Sendable (Set<UserID>) -> Void
    /// Told after other changes than this node's were applied: there may be something to send.
    private let onChange: @Sendable () -> Void
    /// Told when this machine's clock begins and ends to differ too much from the store's; `true` where it ends.
    private let onClockChange: @Sendable (Bool) -> Void

    private struct State {
        var sequence: Int64?
        var stamp: Int64?
        var freshAt: ContinuousClock.Instant
        /// Seconds that this machine's clock is known to be ahead of the store's at least, or behind where negative.
        var clockDifference: TimeInterval = 0
    }

    /// Watches a store for the given memories.
    package init(
        store: any Database, sessions: SessionCache, certificates: CertificateCache, providers: ProviderCache,
        policy: CurrentPolicy, environment: Environment,
        onClockChange: @escaping @Sendable (Bool) -> Void = { _ in },
        onChange: @escaping @Sendable () -> Void = {},
        onUserBan: @escaping @Sendable (Set<UserID>) -> Void = { _ in },
        onDeviceChange: @escaping @Sendable (Set<DeviceID>) -> Void
    ) {
        self.store = store
        self.sessions = sessions
        self.certificates = certificates
        self.providers = providers
        self.policy = policy
        self.environment = environment
        self.onClockChange = onClockChange
        self.onChange = onChange
        self.onUserBan = onUserBan
        self.onDeviceChange = onDeviceChange
        state = Mutex(State(sequence: nil, stamp: nil, freshAt: clock.now))
    }

    /// Reads the changes since the last time.
    ///
    /// - Throws: `Refusal` `unavailable`, or what the store says.
    package func poll() async throws {
        let started = clock.now
        let stamp = try store.changeStamp()
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
            try await forgetAll()
            return state.withLock { $0.sequence = reading.last }
        }
        try await apply(reading.changes)
        if let sequence, reading.last != sequence { onChange() }
        state.withLock { $0.sequence = max($0.sequence ?? reading.last, reading.last) }
    }

    /// Compares the store's clock, read at some moment between two of this machine's, with this machine's.
    private func compareClock(of store: Date, from before: Date, to after: Date) {
        let difference = max(0, before.timeIntervalSince(store)) - max(0, store.timeIntervalSince(after))
        let wasRight = isClockRight
        state.withLock { $0.clockDifference = difference }
        if isClockRight != wasRight { onClockChange(!wasRight) }
    }

    /// Drops every memory of this process: what is asked for next is read anew.
    private func forgetAll() async throws {
        sessions.dropAll()
        providers.dropAll()
        let devices = certificates.devices
        try await certificates.refresh(devices)
        onDeviceChange(devices)
        onChange()
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

    /// Applies a change to the memories of this process.
    func apply(_ change: ChangeLog.Change) async throws {
        try await apply([change])
    }

    /// Applies changes to the memories of this process, all at once: a ban may come with a thousand of them, and each
    /// memory is walked once.
    private func apply(_ changes: [ChangeLog.Change]) async throws {
        guard !changes.isEmpty else { return }
        var tokens: Set<Digest256> = []
        var users: Set<UserID> = []
        var banned: Set<UserID> = []
        var devices: Set<DeviceID> = []
        var disabled: Set<ProviderID> = []
        for change in changes {
            switch change {
            case .session(let hash): tokens.insert(hash)
            case .user(let id): users.insert(id)
            case .bannedUser(let id):
                users.insert(id)
                banned.insert(id)
            case .device(let id): devices.insert(id)
            case .provider(let id): disabled.insert(id)
            }
        }
        for hash in tokens { sessions.drop(hash) }
        for id in disabled { providers.drop(id) }
        if !users.isEmpty || !devices.isEmpty || !disabled.isEmpty {
            sessions.drop { [users, devices, disabled] session in
                users.contains(session.userID) || devices.contains(session.deviceID)
                    || disabled.contains(session.providerID)
            }
        }
        if !banned.isEmpty { onUserBan(banned) }
        guard !devices.isEmpty else { return }
        try await certificates.refresh(devices)
        onDeviceChange(devices)
    }
}
