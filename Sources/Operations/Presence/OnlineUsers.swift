import Domain
import Synchronization

/// The users whose devices wait on this node for changes, and the users whose state the store does not have yet.
///
/// It has at most one entry for each waiting call and push channel, and one for each user who left in the last 30 s or
/// is not written yet. A request only changes it. ``AnnouncePresence`` writes it to the store.
final class OnlineUsers: Sendable {
    /// How long a user stays online after the last device stopped waiting. Devices wait again within seconds.
    static let grace: Duration = .seconds(30)

    /// Changes that the store does not have yet.
    struct Changes: Sendable, Equatable {
        var arrived: [UserID] = []
        var left: [UserID] = []

        var isEmpty: Bool { arrived.isEmpty && left.isEmpty }
    }

    /// What the store has of a user.
    private enum Row {
        case stored
        /// A write failed, so the row may exist or not.
        case uncertain
    }

    private struct State {
        /// The number of waiting calls and push channels.
        var places: [UserID: Int] = [:]
        var rows: [UserID: Row] = [:]
        /// Users to write as online.
        var arriving: Set<UserID> = []
        /// Users to write as offline, with the time when the last device stopped waiting.
        var leaving: [UserID: ContinuousClock.Instant] = [:]

        mutating func leave(_ user: UserID, at time: ContinuousClock.Instant) {
            arriving.remove(user)
            if rows[user] != nil { leaving[user] = time }
        }
    }

    private let state = Mutex(State())

    /// Records that a device of a user begins to wait.
    func enter(_ user: UserID) {
        state.withLock { state in
            state.places[user, default: 0] += 1
            state.leaving[user] = nil
            if state.rows[user] != .stored { state.arriving.insert(user) }
        }
    }

    /// Records that a device of a user stops waiting.
    func leave(_ user: UserID, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            let rest = state.places[user, default: 1] - 1
            state.places[user] = rest > 0 ? rest : nil
            if rest <= 0 { state.leave(user, at: now) }
        }
    }

    /// Whether a device of a user waits on this node.
    func holds(_ user: UserID) -> Bool { state.withLock { $0.places[user] != nil } }

    /// Takes changes to write, and considers them written.
    ///
    /// - Parameters:
    ///   - limit: the largest number of users.
    ///   - grace: how long ago a user must have left.
    ///   - sharing: whether users are written as online.
    func take(
        limit: Int, grace: Duration = OnlineUsers.grace, sharing: MessageStreamPolicy.PresenceSharing = .on,
        at now: ContinuousClock.Instant = .now
    ) -> Changes {
        state.withLock { state in
            var changes = Changes()
            for (user, time) in state.leaving where now - time >= grace {
                guard changes.left.count < limit else { break }
                changes.left.append(user)
            }
            for user in changes.left {
                state.leaving[user] = nil
                state.rows[user] = nil
            }
            guard sharing == .on else { return changes }
            changes.arrived = Array(state.arriving.prefix(limit - changes.left.count))
            for user in changes.arrived {
                state.arriving.remove(user)
                state.rows[user] = .stored
            }
            return changes
        }
    }

    /// Puts changes back that could not be written, or whose commit is unknown.
    func putBack(_ changes: Changes, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for user in changes.arrived + changes.left {
                state.rows[user] = .uncertain
                if state.places[user] != nil {
                    state.arriving.insert(user)
                } else {
                    state.leaving[user] = state.leaving[user] ?? now - Self.grace
                }
            }
        }
    }

    /// Writes everything again, because the store may lack it.
    func doubtAll() {
        state.withLock { state in
            for user in state.rows.keys { state.rows[user] = .uncertain }
            state.arriving.formUnion(state.places.keys)
        }
    }
}
