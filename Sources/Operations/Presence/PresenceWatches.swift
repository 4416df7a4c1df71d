import Domain
import Synchronization

/// The users whose presence waiting users watch on this node.
///
/// A change wakes only users that watch the changed user. It costs nothing if no user does.
final class PresenceWatches: Sendable {
    /// The largest number of watched users of all places together, about 100 bytes each. Places above it are not woken:
    /// they learn the state at the end of their wait.
    static let usualLimit = 500_000

    private struct Place {
        let watcher: UserID
        var watched: Set<UserID>
    }

    private struct State {
        /// The number of the last place.
        var last: UInt64 = 0
        var places: [UInt64: Place] = [:]
        var byWatched: [UserID: Set<UInt64>] = [:]
        var byWatcher: [UserID: Int] = [:]
        var count = 0

        mutating func release(_ users: Set<UserID>, of place: UInt64) {
            for user in users {
                byWatched[user]?.remove(place)
                if byWatched[user]?.isEmpty == true { byWatched[user] = nil }
            }
            count -= users.count
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int = PresenceWatches.usualLimit) {
        self.limit = limit
    }

    /// The number of watched users of all places together.
    var count: Int { state.withLock { $0.count } }

    /// Begins to watch users; `nil` if there are none, or the limit is reached.
    func enter(_ watcher: UserID, of users: [UserID]) -> UInt64? {
        guard !users.isEmpty else { return nil }
        let watched = Set(users)
        return state.withLock { state in
            guard state.count + watched.count <= limit else { return nil }
            state.last += 1
            state.places[state.last] = Place(watcher: watcher, watched: watched)
            for user in watched { state.byWatched[user, default: []].insert(state.last) }
            state.byWatcher[watcher, default: 0] += 1
            state.count += watched.count
            return state.last
        }
    }

    /// Ends the watch of users other than these, so that a caller is not woken by users that it may not see.
    func narrow(_ place: UInt64?, to users: Set<UserID>) {
        guard let place else { return }
        state.withLock { state in
            guard let watched = state.places[place]?.watched else { return }
            state.release(watched.subtracting(users), of: place)
            state.places[place]?.watched = watched.intersection(users)
        }
    }

    func leave(_ place: UInt64?) {
        guard let place else { return }
        state.withLock { state in
            guard let left = state.places.removeValue(forKey: place) else { return }
            state.release(left.watched, of: place)
            let rest = state.byWatcher[left.watcher, default: 1] - 1
            state.byWatcher[left.watcher] = rest > 0 ? rest : nil
        }
    }

    /// The waiting users that may see a change of these users: users that watch them, and those of them that watch others.
    func affected(by users: Set<UserID>) -> Set<UserID> {
        guard !users.isEmpty else { return [] }
        return state.withLock { state in
            guard !state.places.isEmpty else { return [] }
            return users.reduce(into: []) { found, user in
                if state.byWatcher[user] != nil { found.insert(user) }
                let places = (state.byWatched[user] ?? []).compactMap { state.places[$0] }
                found.formUnion(places.map(\.watcher))
            }
        }
    }
}
