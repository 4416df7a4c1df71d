import Database
import Foundation
import Identity
import Records
import Synchronization

/// Keeps this process's memories coherent with the store, and knows how old they are.
///
/// Own writes are applied by those who make them; this applies what other processes did, by the change counter.
public final class StoreWatch: Sendable {
    private let store: any Database
    private let sessions: LiveSessions
    private let certificates: LiveCertificates
    private let providers: KnownProviders
    private let policy: CurrentPolicy
    private let clock = ContinuousClock()
    private let state: Mutex<State>
    /// Told after devices' certificates were read anew, so that connections which no longer count can be closed.
    private let onDeviceChange: @Sendable (Set<DeviceID>) -> Void
    /// Told after banned users' sessions were dropped, so that their connections can be closed.
    private let onUserBan: @Sendable (Set<UserID>) -> Void
    /// Told after other changes than this node's were applied: there may be something to send.
    private let onChange: @Sendable () -> Void

    private struct State {
        var sequence: Int64?
        var stamp: Int64?
        var freshAt: ContinuousClock.Instant
    }

    /// Watches a store for the given memories.
    public init(
        store: any Database, sessions: LiveSessions, certificates: LiveCertificates, providers: KnownProviders,
        policy: CurrentPolicy, onChange: @escaping @Sendable () -> Void = {},
        onUserBan: @escaping @Sendable (Set<UserID>) -> Void = { _ in },
        onDeviceChange: @escaping @Sendable (Set<DeviceID>) -> Void
    ) {
        self.store = store
        self.sessions = sessions
        self.certificates = certificates
        self.providers = providers
        self.policy = policy
        self.onChange = onChange
        self.onUserBan = onUserBan
        self.onDeviceChange = onDeviceChange
        state = Mutex(State(sequence: nil, stamp: nil, freshAt: clock.now))
    }

    /// Reads the changes since the last time.
    ///
    /// - Throws: ``Refusal`` `unavailable`, or what the store says.
    public func poll() async throws {
        let started = clock.now
        let stamp = try store.changeStamp()
        let known = state.withLock { ($0.sequence, $0.stamp) }
        if let sequence = known.0 {
            if known.1 != stamp {
                let reading = try await store.look { try ChangeRecords($0).read(after: sequence) }
                if reading.isWhole { try await apply(reading.changes) } else { try await forgetEverything() }
                if reading.last != sequence { onChange() }
                state.withLock { $0.sequence = reading.last }
            }
        } else {
            let last = try await store.look { try ChangeRecords($0).last() }
            state.withLock { $0.sequence = last }
        }
        state.withLock { state in
            state.stamp = stamp
            state.freshAt = started
        }
    }

    /// Polls until the task is cancelled; a store that is away is tried again.
    ///
    /// - Parameter onFailure: told about each failed try.
    public func run(onFailure: @Sendable (any Error) -> Void) async {
        while !Task.isCancelled {
            do { try await poll() } catch { onFailure(error) }
            try? await Task.sleep(for: .seconds(policy[\.bans].changePollInterval))
        }
    }

    /// Refuses to decide from memories that are too old.
    ///
    /// - Throws: ``Refusal`` `unavailable`.
    public func requireFresh() throws(Refusal) {
        let age = clock.now - state.withLock { $0.freshAt }
        guard age < .seconds(policy[\.bans].maximumStaleness) else {
            throw Refusal(
                .unavailable, "This node's view of the store is too old to decide from; nothing was changed.",
                retryAfter: 1, privateDetail: "last read of the change counter was \(age) ago")
        }
    }

    /// A node that was cut off for longer than changes are kept cannot know what changed.
    private func forgetEverything() async throws {
        sessions.drop { _ in true }
        providers.dropAll()
        let devices = certificates.devices
        try await certificates.refresh(devices)
        onDeviceChange(devices)
    }

    /// Applies a change to the memories of this process.
    func apply(_ change: ChangeRecords.Change) async throws {
        try await apply([change])
    }

    /// Applies changes to the memories of this process, all at once: a ban may come with a thousand of them, and each
    /// memory is walked once.
    private func apply(_ changes: [ChangeRecords.Change]) async throws {
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
