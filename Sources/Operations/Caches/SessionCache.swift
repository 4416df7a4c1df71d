import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// The sessions that were used with this process, by the hash of their tokens.
///
/// Each refers to four shared flags. A change of a user, device, key or provider invalidates one flag, whatever the
/// number of sessions. Invalidated sessions are no longer found, and ``dropIdle(since:)`` frees their memory.
package final class SessionCache: Sendable {
    private final class Shard: Sendable {
        /// By the first word of the hash. Two sessions with the same word replace each other, which no one can cause.
        let sessions = Mutex<[UInt64: CachedSession]>([:])
    }

    private let shards = (0..<64).map { _ in Shard() }
    private let users = GateTable<UserID, SessionGates.User>()
    private let devices = GateTable<DeviceID, SessionGates.Device>()
    private let providers = GateTable<ProviderID, SessionGates.Provider>()
    private let keys = GateTable<ProviderKeyID, ProviderKeyID>()
    private let changes = RecentChanges()
    private let store: any Database

    /// - Parameter store: the store from which sessions are read.
    init(store: any Database) {
        self.store = store
    }

    private func shard(of tokenHash: Digest256) -> Shard {
        shards[Int(tokenHash.firstWord % UInt64(shards.count))]
    }

    /// The session whose token has a hash, if it is cached.
    func known(_ tokenHash: Digest256) -> CachedSession? {
        let found = shard(of: tokenHash).sessions.withLock { $0[tokenHash.firstWord] }
        guard let found, found.tokenHash == tokenHash, found.gates.areOpen else { return nil }
        return found
    }

    /// The session with an id whose token has a hash; `nil` if the store has none. A session that changes during each
    /// reading is used for this request and not cached.
    func find(_ tokenHash: Digest256, of id: SessionID) async throws -> CachedSession? {
        if let known = known(tokenHash) { return known }
        var session: Session?
        for _ in 0..<4 {
            let mark = mark
            session = try await store.snapshot { try SessionRepository($0).find(id, tokenHash: tokenHash) }
            guard let session else { return nil }
            if let kept = remember(session, since: mark) { return kept }
        }
        return session.map { CachedSession($0, gates(of: $0)) }
    }

    /// The session of a token. If it seems idle, its last use is read again, because another node may have recorded one
    /// since.
    func find(_ token: SessionToken, now: Date, policy: SessionPolicy) async throws -> CachedSession? {
        guard let live = try await find(token.hash, of: token.sessionID) else { return nil }
        let session = live.session
        if session.state == .authenticated, session.effectiveState(at: now, policy: policy) == .challenged,
            let stored = try await store.snapshot({
                try SessionRepository($0).find(token.sessionID, tokenHash: token.hash)
            })
        {
            live.learn(ofUseAt: stored.lastUsedAt)
        }
        return live
    }

    /// A mark for ``remember(_:since:)``. Take it before a session is read or written.
    var mark: UInt64 { changes.mark }

    /// Caches a session that was read or written after a mark; `nil` if it, or its user, device, key or provider, has
    /// changed since.
    @discardableResult
    func remember(_ session: Session, since mark: UInt64) -> CachedSession? {
        let cached = CachedSession(session, gates(of: session))
        return shard(of: session.tokenHash).sessions.withLock { sessions in
            // A change is recorded before it is applied. So a change that is not found here finds the session or its
            // flag.
            guard changes.isUntouched(session.subjects, since: mark) else { return nil }
            let key = session.tokenHash.firstWord
            if let present = sessions[key], present.tokenHash == session.tokenHash, present.gates.areOpen {
                return present
            }
            sessions[key] = cached
            return cached
        }
    }

    private func gates(of session: Session) -> SessionGates {
        SessionGates(
            user: users.gate(session.userID, .init(id: session.userID, externalID: session.externalID)),
            device: devices.gate(session.deviceID, .init(id: session.deviceID, thumbprint: session.thumbprint)),
            provider: providers.gate(
                session.providerID, .init(id: session.providerID, applicationID: session.applicationID)),
            key: keys.gate(session.providerKeyID, session.providerKeyID))
    }

    private func drop(_ tokenHash: Digest256) {
        changes.note(.token(tokenHash))
        shard(of: tokenHash).sessions.withLock { sessions in
            guard sessions[tokenHash.firstWord]?.tokenHash == tokenHash else { return }
            sessions[tokenHash.firstWord] = nil
        }
    }

    private func invalidate(_ gate: RevocationScope) {
        changes.note(.gate(gate))
        switch gate {
        case .user(let id): users.invalidate(id)
        case .device(let id): devices.invalidate(id)
        case .provider(let id): providers.invalidate(id)
        case .providerKey(let id): keys.invalidate(id)
        }
    }

    /// Drops or invalidates the sessions of a subject. Only a node does it, which also wakes the calls that wait in them.
    func invalidate(_ subject: RecentChanges.Subject) {
        switch subject {
        case .token(let hash): drop(hash)
        case .gate(let scope): invalidate(scope)
        }
    }

    /// Forgets all sessions; the next use of each reads it again.
    func dropAll() {
        changes.noteAll()
        for shard in shards {
            // They are released after the lock.
            _ = shard.sessions.withLock { sessions in
                defer { sessions = [:] }
                return sessions
            }
        }
    }

    /// Drops sessions that were not used for a while, invalidated sessions, and flags without sessions. The next use of
    /// a session reads it again. It processes one shard at a time, so that no request waits for all of them.
    func dropIdle(since moment: Date) {
        for shard in shards {
            let gone = shard.sessions.withLock { $0 }.filter { $1.lastUsedAt < moment || !$1.gates.areOpen }
            shard.sessions.withLock { sessions in
                for (key, session) in gone where sessions[key] === session { sessions[key] = nil }
                sessions.shrink()
            }
        }
        users.dropUnheld()
        devices.dropUnheld()
        keys.dropUnheld()
        providers.dropUnheld()
    }

    /// The number of entries, including invalidated sessions.
    var placeCount: Int { number { _ in true } }

    /// The number of users, devices, keys and providers with a flag.
    var gateCount: Int { users.count + devices.count + keys.count + providers.count }
}

extension Session {
    /// What the session depends on.
    var subjects: [RecentChanges.Subject] {
        [
            .token(tokenHash), .gate(.user(userID)), .gate(.device(deviceID)), .gate(.providerKey(providerKeyID)),
            .gate(.provider(providerID)),
        ]
    }
}

package extension SessionCache {
    /// The number of cached sessions, including ended ones that were shown since.
    var count: Int { number { $0.gates.areOpen } }

    /// The number of cached sessions that are authenticated at `now`.
    func countLive(now: Date, policy: SessionPolicy) -> Int {
        number { $0.gates.areOpen && $0.session.effectiveState(at: now, policy: policy) == .authenticated }
    }

    private func number(where fits: (CachedSession) -> Bool) -> Int {
        shards.reduce(0) { $0 + $1.sessions.withLock { Array($0.values) }.count(where: fits) }
    }
}
