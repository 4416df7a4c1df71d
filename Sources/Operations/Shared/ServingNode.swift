import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// This process as one that serves: what it remembers of the store, its connections, and the loop of its outbox.
///
/// It carries out the second half of ``Consequence``: after its own commits, and for what other nodes committed.
package final class ServingNode: Sendable {
    package let caches: Caches
    let callRates = CallRates()
    let discoveryKeys = DerivedDiscoveryKeys()
    let contactEvaluator = ContactEvaluator()
    /// Wakes receivers that wait for an event.
    let polls = WaitingPolls<EventStreamID, ProviderID>()
    /// Wakes users who wait for a change of what they synchronize.
    let messagePolls = WaitingPolls<UserID, UserID>()
    /// Who is writing, for those who wait.
    let typing = TypingNotices()
    /// How many calls and push channels wait for something to happen.
    package var waiting: Int { polls.count + messagePolls.count }
    private let onMessage: @Sendable () -> Void
    private let onUserBan: @Sendable (Set<UserID>) -> Void
    private let onDeviceChange: @Sendable (Set<DeviceID>) -> Void
    private let onBulkRevocation: @Sendable () -> Void
    private let isInDoubt = Atomic<Bool>(false)

    /// Joins memories and connections.
    ///
    /// - Parameters:
    ///   - onMessage: wakes the outbox's loop: there may be something to send.
    ///   - onUserBan: takes banned users' sessions off connections, and closes those that nobody else uses.
    ///   - onDeviceChange: called after devices' certificates were read anew; closes connections that are valid no more.
    ///   - onBulkRevocation: wakes the loop that ends rows of sessions behind a cut of this process.
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

    /// What follows from a commit of this process.
    ///
    /// - Parameter mark: that of the sessions before the transaction began. A session that another process may have
    ///   ended since is not remembered but read at its first use.
    func apply(_ aftermath: Commit.Aftermath, since mark: UInt64) async throws {
        for session in aftermath.opened { caches.sessions.remember(session, since: mark) }
        if aftermath.wakesOutbox { onMessage() }
        polls.wake(aftermath.streams)
        if aftermath.leavesRows { onBulkRevocation() }
        try await apply(aftermath.changes)
    }

    /// Applies changes to memories and connections, all at once: a ban may come with a thousand of them, and
    /// connections are looked through once.
    func apply(_ changes: [ChangeLog.Change]) async throws {
        guard !changes.isEmpty else { return }
        var banned: Set<UserID> = []
        var devices: Set<DeviceID> = []
        var waiting: Set<UserID> = []
        let sessions = caches.sessions
        for change in changes {
            switch change {
            case .session(let hash): sessions.drop(hash)
            case .user(let id):
                sessions.invalidate(.user(id))
                waiting.insert(id)
            case .bannedUser(let id):
                sessions.invalidate(.user(id))
                banned.insert(id)
                waiting.insert(id)
            case .userLevel(let id): caches.levels.drop(id)
            case .device(let id):
                sessions.invalidate(.device(id))
                devices.insert(id)
            case .provider(let id):
                caches.providers.drop(id)
                sessions.invalidate(.provider(id))
            case .providerKeys(let id):
                caches.providers.drop(id)
                // An audience may have been removed, and be another provider's next.
                caches.issuers.clients.drop { $0 == id }
            case .providerKey(let id): sessions.invalidate(.providerKey(id))
            case .messages(let ids): waiting.formUnion(ids)
            case .typing(let stream, let user, let others):
                waiting.formUnion(typing.show(TypingNotices.Notice(stream: stream, user: user), to: others))
            }
        }
        // Whoever lost the session meanwhile is refused now, and not when the wait is over.
        messagePolls.wake(waiting)
        if !banned.isEmpty { onUserBan(banned) }
        guard !devices.isEmpty else { return }
        try await caches.certificates.refresh(devices)
        onDeviceChange(devices)
    }

    /// Forgets a session that this process was asked to end: another may have ended it, of which this one has not heard
    /// yet, and then no change of its own says so.
    func forget(_ session: Session) { caches.sessions.drop(session.tokenHash) }

    /// Another process has committed something, which may be a message.
    func wakeOutbox() { onMessage() }

    /// Forgets everything: what is asked for next is read anew.
    ///
    /// It asks the store for nothing: how long a node takes over is no matter of what it remembers.
    func forgetAll() {
        caches.sessions.dropAll()
        caches.providers.dropAll()
        caches.issuers.dropAll()
        caches.levels.dropAll()
        caches.certificates.doubtAll()
        onDeviceChange([])
        messagePolls.wakeAll()
        onMessage()
    }

    /// Reads some of the certificates anew that connections hold and that are in doubt, so that those end which nobody
    /// asks for anything.
    func settleSome() async throws {
        let devices = try await caches.certificates.settleSome()
        if !devices.isEmpty { onDeviceChange(devices) }
    }

    /// A commit whose outcome is not known may have changed anything: memories are emptied, and the change log is read
    /// again whether or not it seems to have moved, which reaches certificates and connections.
    func doubt() {
        isInDoubt.store(true, ordering: .sequentiallyConsistent)
        caches.sessions.dropAll()
        caches.providers.dropAll()
        caches.issuers.dropAll()
        caches.levels.dropAll()
        messagePolls.wakeAll()
        onMessage()
    }

    /// Whether a commit's outcome is not known.
    var isDoubted: Bool { isInDoubt.load(ordering: .sequentiallyConsistent) }

    /// Whether a commit's outcome is not known since this was asked last.
    func endDoubt() -> Bool { isInDoubt.exchange(false, ordering: .sequentiallyConsistent) }
}

/// Evaluates contacts for one request at a time, a few elements at a turn: so many requests as there may be take one core.
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
