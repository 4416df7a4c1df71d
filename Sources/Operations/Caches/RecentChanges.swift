import Domain
import Encoding
import Synchronization

/// The recent changes, in order. A load that overlaps a change of its data is not cached, even if none of the data was
/// cached before.
final class RecentChanges: Sendable {
    /// What a session depends on: a change of it may end or challenge the session.
    enum Subject: Hashable, Sendable {
        case token(Digest256)
        case gate(RevocationScope)
    }

    private struct State {
        var last: UInt64 = 0
        /// The number of each subject's last change.
        var changes: [Subject: UInt64] = [:]
        /// The changes in a ring, oldest first.
        var order: [(subject: Subject, number: UInt64)] = []
        var oldest = 0
        /// Changes up to this number are no longer stored.
        var forgotten: UInt64 = 0
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: a load that overlaps more changes is not cached.
    init(capacity: Int = 4096) { self.capacity = capacity }

    /// The number of the last change. Take it before a load begins.
    var mark: UInt64 { state.withLock { $0.last } }

    /// Records a change, before it is applied to the cache.
    func note(_ subject: Subject) {
        state.withLock { state in
            state.last += 1
            state.changes[subject] = state.last
            guard state.order.count == capacity else { return state.order.append((subject, state.last)) }
            let (old, number) = state.order[state.oldest]
            if state.changes[old] == number { state.changes[old] = nil }
            state.forgotten = number
            state.order[state.oldest] = (subject, state.last)
            state.oldest = (state.oldest + 1) % capacity
        }
    }

    /// Records that everything may have changed.
    func noteAll() {
        state.withLock { state in
            state.last += 1
            state.forgotten = state.last
            (state.changes, state.order, state.oldest) = ([:], [], 0)
        }
    }

    /// Whether none of some subjects has changed since a mark.
    func isUntouched(_ subjects: [Subject], since mark: UInt64) -> Bool {
        state.withLock { state in
            mark >= state.forgotten && subjects.allSatisfy { (state.changes[$0] ?? 0) <= mark }
        }
    }
}
