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
    /// Told after a device's certificates were read anew, so that connections which no longer count can be closed.
    private let onDeviceChange: @Sendable (DeviceID) -> Void

    private struct State {
        var sequence: Int64?
        var stamp: Int64?
        var freshAt: ContinuousClock.Instant
    }

    /// Watches a store for the given memories.
    public init(
        store: any Database, sessions: LiveSessions, certificates: LiveCertificates, providers: KnownProviders,
        policy: CurrentPolicy, onDeviceChange: @escaping @Sendable (DeviceID) -> Void
    ) {
        self.store = store
        self.sessions = sessions
        self.certificates = certificates
        self.providers = providers
        self.policy = policy
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
                let changes = try await store.look { try ChangeRecords($0).list(after: sequence) }
                for (_, change) in changes { if let change { try await apply(change) } }
                let last = changes.last?.sequence ?? sequence
                state.withLock { $0.sequence = max($0.sequence ?? last, last) }
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

    /// Applies a change to the memories of this process.
    func apply(_ change: ChangeRecords.Change) async throws {
        switch change {
        case .session(let hash): sessions.drop(hash)
        case .user(let id): sessions.drop { $0.userID == id }
        case .provider(let id):
            providers.drop(id)
            sessions.drop { $0.providerID == id }
        case .device(let id):
            sessions.drop { $0.deviceID == id }
            try await certificates.refresh(deviceID: id)
            onDeviceChange(id)
        }
    }
}
