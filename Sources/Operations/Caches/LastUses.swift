import Domain
import Foundation
import Synchronization

/// Uses of sessions that are not in the store yet. They are written in batches some seconds later, so no request waits
/// for it.
///
/// Until then other nodes consider the session unused. A node records a use at least every `SessionPolicy.useInterval`,
/// and writes its records every `SessionPolicy.useWriteInterval`. Together these are at most half of the idle lifetime.
/// So a session that was used within the other half is not idle on any node.
package final class LastUses: Sendable {
    /// The largest number of sessions.
    private let limit: Int
    private let pending = Mutex<[SessionID: Date]>([:])

    /// - Parameter limit: the largest number of sessions. Further uses are recorded when there are fewer.
    init(limit: Int = 500_000) {
        self.limit = limit
    }

    /// Records a use; `false` if there are too many.
    func note(_ id: SessionID, at time: Date) -> Bool {
        pending.withLock { pending in
            guard pending.count < limit || pending[id] != nil else { return false }
            pending[id] = max(time, pending[id] ?? time)
            return true
        }
    }

    /// Removes and returns all uses, in the order of the sessions' ids, so that two nodes that write the same ones do
    /// not deadlock.
    func takeAll() -> [Session.Use] {
        let taken = pending.withLock { pending in
            defer { pending = [:] }
            return pending
        }
        return taken.sorted { $0.key.uuid < $1.key.uuid }.map { Session.Use(id: $0.key, at: $0.value) }
    }

    /// Puts uses back that could not be written.
    func putBack(_ uses: some Sequence<Session.Use>) {
        for use in uses { _ = note(use.id, at: use.at) }
    }

    /// The number of sessions with a use to write.
    package var count: Int { pending.withLock { $0.count } }
}
