import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// A session in this process's memory. Only its last use changes here; everything else changes by reading it anew.
final class CachedSession: Sendable {
    private struct Use {
        var last: Date
        var written: Date
    }

    private let base: Session
    private let use: Mutex<Use>

    init(_ session: Session) {
        base = session
        use = Mutex(Use(last: session.lastUsedAt, written: session.lastUsedAt))
    }

    /// The session with its last use as this process knows it.
    var session: Session {
        var session = base
        session.lastUsedAt = use.withLock { $0.last }
        return session
    }

    /// Learns of a use that another process wrote.
    func learn(ofUseAt time: Date) {
        use.withLock { use in
            use.last = max(use.last, time)
            use.written = max(use.written, time)
        }
    }

    /// Notes a use, often enough for the store to learn of it in time.
    func touch(now: Date, policy: SessionPolicy, in uses: LastUses) {
        use.withLock { use in
            use.last = max(use.last, now)
            guard now.timeIntervalSince(use.written) >= policy.useInterval, uses.note(base.id, at: now) else { return }
            use.written = now
        }
    }
}

/// The sessions that this process has been shown, by the hash of their tokens.
package final class SessionCache: Sendable {
    private let table = InvalidatingCache<Digest256, CachedSession>()
    private let store: any Database

    /// Remembers what a store holds.
    package init(store: any Database) {
        self.store = store
    }

    /// The session whose token has a hash, as far as it is remembered.
    func known(_ tokenHash: Digest256) -> CachedSession? { table.known(tokenHash) }

    /// The session whose token has a hash; `nil` where the store has none.
    func find(_ tokenHash: Digest256) async throws -> CachedSession? {
        if let known = table.known(tokenHash) { return known }
        return try await table.find(tokenHash) {
            try await store.snapshot { try SessionRepository($0).find(tokenHash: tokenHash) }.map(CachedSession.init)
        }
    }

    /// The same, with its last use read anew where it seems idle: another node may have been shown it since.
    func find(_ tokenHash: Digest256, now: Date, policy: SessionPolicy) async throws -> CachedSession? {
        guard let live = try await find(tokenHash) else { return nil }
        let session = live.session
        if session.state == .authenticated, session.effectiveState(at: now, policy: policy) == .challenged,
            let stored = try await store.snapshot({ try SessionRepository($0).find(tokenHash: tokenHash) })
        {
            live.learn(ofUseAt: stored.lastUsedAt)
        }
        return live
    }

    var epoch: UInt64 { table.epoch }

    func remember(_ session: Session, since epoch: UInt64) {
        table.remember(CachedSession(session), for: session.tokenHash, since: epoch)
    }

    func drop(_ tokenHash: Digest256) {
        table.drop(tokenHash)
    }

    func drop(where fits: (Session) -> Bool) {
        table.drop { fits($0.session) }
    }

    /// Forgets all sessions; the next use of each reads it again.
    func dropAll() {
        table.drop { _ in true }
    }

    /// Forgets sessions that were not used for a while; the next use reads them again.
    func dropIdle(since moment: Date) {
        table.drop { $0.session.lastUsedAt < moment }
    }

    /// How many sessions this process remembers, ended ones that were shown since among them.
    package var count: Int { table.count }

    /// How many of them may act at a moment.
    package func countLive(now: Date, policy: SessionPolicy) -> Int {
        table.count { $0.session.effectiveState(at: now, policy: policy) == .authenticated }
    }
}
