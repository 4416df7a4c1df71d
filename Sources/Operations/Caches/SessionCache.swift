import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// The sessions that this process has been shown, by the hash of their tokens.
///
/// Each depends on four gates. A change of a user, device, key or provider shuts one gate, however many sessions depend
/// on it: they are found no more, and ``dropIdle(since:)`` takes their places back.
package final class SessionCache: Sendable {
    private final class Shard: Sendable {
        /// By the first word of the hash: two sessions of one word, which nobody can bring about, take turns.
        let sessions = Mutex<[UInt64: CachedSession]>([:])
    }

    private let shards = (0..<64).map { _ in Shard() }
    private let users = GateTable<UserID, SessionGates.User>()
    private let devices = GateTable<DeviceID, SessionGates.Device>()
    private let providers = GateTable<ProviderID, SessionGates.Provider>()
    private let keys = GateTable<ProviderKeyID, ProviderKeyID>()
    private let changes = RecentChanges()
    private let store: any Database

    /// Remembers what a store holds.
    package init(store: any Database) {
        self.store = store
    }

    private func shard(of tokenHash: Digest256) -> Shard {
        shards[Int(tokenHash.firstWord % UInt64(shards.count))]
    }

    /// The session whose token has a hash, as far as it is remembered.
    func known(_ tokenHash: Digest256) -> CachedSession? {
        let found = shard(of: tokenHash).sessions.withLock { $0[tokenHash.firstWord] }
        guard let found, found.tokenHash == tokenHash, found.gates.areOpen else { return nil }
        return found
    }

    /// The session with an id whose token has a hash; `nil` if the store has none. One that changed whenever it was
    /// read is used for this request and not remembered.
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

    /// The same, with its last use read anew where it seems idle: another node may have been shown it since.
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

    /// A mark for ``remember(_:since:)``, to be taken before a session is read or written.
    var mark: UInt64 { changes.mark }

    /// Keeps a session that was read or written since a mark; `nil` if it, or what it depends on, has changed since.
    @discardableResult
    func remember(_ session: Session, since mark: UInt64) -> CachedSession? {
        let cached = CachedSession(session, gates(of: session))
        let subjects: [RecentChanges.Subject] = [
            .token(session.tokenHash), .gate(.user(session.userID)), .gate(.device(session.deviceID)),
            .gate(.providerKey(session.providerKeyID)), .gate(.provider(session.providerID)),
        ]
        return shard(of: session.tokenHash).sessions.withLock { sessions in
            // A change is noted before it is applied: one that is not seen here still finds the session, or its gate.
            guard changes.isUntouched(subjects, since: mark) else { return nil }
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

    /// Forgets a session.
    func drop(_ tokenHash: Digest256) {
        changes.note(.token(tokenHash))
        shard(of: tokenHash).sessions.withLock { sessions in
            guard sessions[tokenHash.firstWord]?.tokenHash == tokenHash else { return }
            sessions[tokenHash.firstWord] = nil
        }
    }

    /// Forgets all sessions that depend on something.
    func invalidate(_ gate: RevocationScope) {
        changes.note(.gate(gate))
        switch gate {
        case .user(let id): users.invalidate(id)
        case .device(let id): devices.invalidate(id)
        case .provider(let id): providers.invalidate(id)
        case .providerKey(let id): keys.invalidate(id)
        }
    }

    /// Forgets all sessions; the next use of each reads it again.
    func dropAll() {
        changes.noteAll()
        for shard in shards {
            // They are let go when nobody waits any more.
            _ = shard.sessions.withLock { sessions in
                defer { sessions = [:] }
                return sessions
            }
        }
    }

    /// Forgets sessions that were not used for a while, which the next use reads again, those behind shut gates, and
    /// gates that nothing depends on: a shard at a time, so that no request waits for all of them.
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

    /// How many sessions this process remembers, ended ones that were shown since among them.
    package var count: Int { number { $0.gates.areOpen } }

    /// How many of them may act at a moment.
    package func countLive(now: Date, policy: SessionPolicy) -> Int {
        number { $0.gates.areOpen && $0.session.effectiveState(at: now, policy: policy) == .authenticated }
    }

    /// How many places sessions take, those behind shut gates among them.
    var placeCount: Int { number { _ in true } }

    /// How many users, devices, keys and providers there are gates of.
    var gateCount: Int { users.count + devices.count + keys.count + providers.count }

    private func number(where fits: (CachedSession) -> Bool) -> Int {
        shards.reduce(0) { $0 + $1.sessions.withLock { Array($0.values) }.count(where: fits) }
    }
}
