import Domain
import Foundation
import Synchronization

/// Uses of sessions that the store does not know yet. They are written some seconds later, many at once, so that no
/// request waits for it.
///
/// Until then other nodes take a session for unused. A node notes a use at least every
/// `SessionPolicy.useInterval`, and writes what it noted every `SessionPolicy.useWriteInterval`: both together are at
/// most half of the idle lifetime. So a session that was used within the other half is idle on no node.
package final class LastUses: Sendable {
    /// The largest number of sessions.
    private let limit: Int
    private let pending = Mutex<[SessionID: Date]>([:])

    /// - Parameter limit: the largest number of sessions; a use beyond it is noted once there are fewer.
    package init(limit: Int = 500_000) {
        self.limit = limit
    }

    /// Notes a use; `false` if there are too many.
    func note(_ id: SessionID, at time: Date) -> Bool {
        pending.withLock { pending in
            guard pending.count < limit || pending[id] != nil else { return false }
            pending[id] = max(time, pending[id] ?? time)
            return true
        }
    }

    /// Takes all uses out, in the order of the sessions' ids: two nodes that write the same ones must not wait for one
    /// another.
    func takeAll() -> [SessionUse] {
        let taken = pending.withLock { pending in
            defer { pending = [:] }
            return pending
        }
        return taken.sorted { $0.key.uuid < $1.key.uuid }.map { SessionUse(id: $0.key, at: $0.value) }
    }

    /// Puts uses back that could not be written.
    func putBack(_ uses: some Sequence<SessionUse>) {
        for use in uses { _ = note(use.id, at: use.at) }
    }

    /// The number of sessions.
    package var count: Int { pending.withLock { $0.count } }
}
