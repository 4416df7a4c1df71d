import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// This process as a node: its caches of the store, its connections, and the loop of its outbox.
///
/// It applies the second half of each ``Consequence``: after its own commits, and for commits of other nodes.
package final class ServingNode: Sendable {
    package let caches: Caches
    let callRates = CallRates()
    let looks = AdministratorLooks()
    let discoveryKeys = DerivedDiscoveryKeys()
    let contactEvaluator = ContactEvaluator()
    /// Wakes receivers that wait for an event.
    let polls = WaitingPolls<EventStreamID, ProviderID>()
    /// Wakes users who wait for a change to synchronize, also when their session may have ended.
    let messagePolls = MessagePolls()
    /// The users who are typing, for users who wait for changes.
    let typing = TypingNotices()
    /// The users whose devices wait on this node.
    let online = OnlineUsers()
    /// Wakes users who wait for changes of other users' presence.
    let presenceWatches = PresenceWatches()
    /// The number of waiting calls and push channels.
    package var waiting: Int { polls.count + messagePolls.count }
    private let onMessage: @Sendable () -> Void
    private let onUserBan: @Sendable (Set<UserID>) -> Void
    private let onDeviceChange: @Sendable (Set<DeviceID>) -> Void
    private let onBulkRevocation: @Sendable () -> Void
    private let isInDoubt = Atomic<Bool>(false)

    /// Makes a node of its caches and the effects outside of them.
    ///
    /// - Parameters:
    ///   - onMessage: wakes the outbox's loop, because there may be a message to send.
    ///   - onUserBan: detaches banned users' sessions from connections, and closes connections that no other user has.
    ///   - onDeviceChange: called after devices' certificates were read again; closes connections that are no longer
    ///     valid.
    ///   - onBulkRevocation: wakes the loop that ends the rows of sessions after a bulk revocation by this process.
    package init(
        caches: Caches, onMessage: @escaping @Sendable () -> Void = {},
        onUserBan: @escaping @Sendable (Set<UserID>) -> Void = { _ in },
        onDeviceChange: @escaping @Sendable (Set<DeviceID>) -> Void = { _ in },
        onBulkRevocation: @escaping @Sendable () -> Void = {}
    ) {
        self.caches = caches
        self.onMessage = onMessage
        self.onUserBan = onUserBan
        self.onDeviceChange = onDeviceChange
        self.onBulkRevocation = onBulkRevocation
    }

    /// Applies the consequences of a commit of this process.
    ///
    /// - Parameter mark: the session cache's mark from before the transaction. A session that another process may have
    ///   ended since is not cached. It is read at its first use.
    func apply(_ aftermath: Commit.Aftermath, since mark: UInt64) async throws {
        for session in aftermath.opened { caches.sessions.remember(session, since: mark) }
        if aftermath.wakesOutbox { onMessage() }
        polls.wake(aftermath.streams)
        if aftermath.leavesRows { onBulkRevocation() }
        try await apply(aftermath.changes)
    }

    /// Applies changes to caches and connections, all at once. A ban may have a thousand changes, and the connections
    /// are scanned only once.
    func apply(_ changes: [ChangeLog.Change]) async throws {
        guard !changes.isEmpty else { return }
        var banned: Set<UserID> = []
        var devices: Set<DeviceID> = []
        var waiting: Set<UserID> = []
        // Users whose presence others may see differently now.
        var seen: Set<UserID> = []
        // What sessions depend on: these sessions may have ended.
        var ended: Set<RecentChanges.Subject> = []
        for change in changes {
            switch change {
            case .session(let hash): ended.insert(.token(hash))
            case .user(let id):
                ended.insert(.gate(.user(id)))
                seen.insert(id)
            case .bannedUser(let id):
                ended.insert(.gate(.user(id)))
                banned.insert(id)
                seen.insert(id)
            case .userLevel(let id):
                caches.levels.drop(id)
                seen.insert(id)
            case .device(let id):
                ended.insert(.gate(.device(id)))
                devices.insert(id)
            case .provider(let id):
                caches.providers.drop(id)
                ended.insert(.gate(.provider(id)))
            case .providerKeys(let id):
                caches.providers.drop(id)
                // An audience may have been removed, and may belong to another provider next.
                caches.issuers.clients.drop { $0 == id }
            case .providerKey(let id): ended.insert(.gate(.providerKey(id)))
            case .messages(let ids): waiting.formUnion(ids)
            case .typing(let stream, let user, let others):
                waiting.formUnion(typing.show(TypingNotices.Notice(stream: stream, user: user), to: others))
            case .presence(let ids): seen.formUnion(ids)
            case .administrator(let id): caches.administrators.drop(id)
            }
        }
        end(ended)
        waiting.formUnion(presenceWatches.affected(by: seen))
        messagePolls.wake(Set(waiting.map { .gate(.user($0)) }))
        if !banned.isEmpty { onUserBan(banned) }
        guard !devices.isEmpty else { return }
        try await caches.certificates.refresh(devices)
        onDeviceChange(devices)
    }

    /// Drops a session that this process was asked to end. If another process already ended it, this process has no
    /// change of its own, and may not have read the other's change yet.
    func forget(_ session: Session) { end([.token(session.tokenHash)]) }

    /// Drops the sessions of some subjects, which may have ended. A call that waits in such a session is refused now,
    /// and not at the end of its wait.
    private func end(_ subjects: Set<RecentChanges.Subject>) {
        for subject in subjects { caches.sessions.invalidate(subject) }
        messagePolls.wake(subjects)
    }

    /// Wakes the outbox's loop after a commit of another process, which may contain a message.
    func wakeOutbox() { onMessage() }

    /// Drops all cached data, which is read again at its next use.
    ///
    /// It does not access the store, so its duration does not depend on the number of cached entries.
    func forgetAll() {
        caches.sessions.dropAll()
        caches.providers.dropAll()
        caches.issuers.dropAll()
        caches.levels.dropAll()
        caches.administrators.dropAll()
        caches.certificates.doubtAll()
        // Another server may lack what this node wrote.
        online.doubtAll()
        onDeviceChange([])
        messagePolls.wakeAll()
        onMessage()
    }

    /// Reads some invalidated certificates of connections again, so that connections without requests are closed too.
    func settleSome() async throws {
        let devices = try await caches.certificates.settleSome()
        if !devices.isEmpty { onDeviceChange(devices) }
    }

    /// Handles a commit whose result is unknown, which may have changed anything. The caches are emptied, and the
    /// change log is read again even if it seems unchanged. That also covers certificates and connections.
    func doubt() {
        isInDoubt.store(true, ordering: .sequentiallyConsistent)
        caches.sessions.dropAll()
        caches.providers.dropAll()
        caches.issuers.dropAll()
        caches.levels.dropAll()
        caches.administrators.dropAll()
        messagePolls.wakeAll()
        onMessage()
    }

    /// Whether the result of a commit is unknown.
    var isDoubted: Bool { isInDoubt.load(ordering: .sequentiallyConsistent) }

    /// Whether the result of a commit has become unknown since the last call.
    func endDoubt() -> Bool { isInDoubt.exchange(false, ordering: .sequentiallyConsistent) }
}

/// Calls that wait for changes to synchronize. A user's changes have the topic of the user.
typealias MessagePolls = WaitingPolls<RecentChanges.Subject, UserID>

/// Evaluates contacts for one request at a time, a few elements in each turn. So any number of requests uses at most
/// one core.
actor ContactEvaluator {
    private static let turn = 4

    func evaluate(_ blinded: [[UInt8]], _ key: ObliviousKey) async throws -> [[UInt8]] {
        var evaluations: [[UInt8]] = []
        for start in stride(from: 0, to: blinded.count, by: Self.turn) {
            try Task.checkCancellation()
            evaluations += try key.evaluate(Array(blinded[start..<min(start + Self.turn, blinded.count)]))
            await Task.yield()
        }
        return evaluations
    }
}
