import Domain
import Foundation
import Synchronization

/// Callers that wait for changes of topics, such as events of a stream (RFC 8936 §2.4). They use no connection to the
/// store.
final class WaitingPolls<Topic: Hashable & Sendable, Owner: Hashable & Sendable>: Sendable {
    private struct State {
        /// The number of the last place.
        var last: UInt64 = 0
        var waiting: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var byTopic: [Topic: Set<UInt64>] = [:]
        var byOwner: [Owner: Int] = [:]

        mutating func add(_ topics: Set<Topic>, _ wake: AsyncStream<Void>.Continuation) -> UInt64 {
            last += 1
            for topic in topics { byTopic[topic, default: []].insert(last) }
            waiting[last] = wake
            return last
        }
    }

    private let state = Mutex(State())

    /// The number of waiting callers.
    var count: Int { state.withLock { $0.waiting.count } }

    /// A waiting caller, until ``leave(_:)``.
    struct Place: Sendable {
        let id: UInt64
        let topics: Set<Topic>
        /// The owner against whose limit it is counted; `nil` if it is not counted.
        let owner: Owner?
        fileprivate let rings: AsyncStream<Void>
        fileprivate let wake: AsyncStream<Void>.Continuation

        /// Waits until an event may be available, at most for a number of seconds. A cancelled task stops waiting.
        func wait(_ seconds: TimeInterval) async {
            // Cancelling an iteration would end the stream permanently, so the alarm wakes it.
            let alarm = Task { [wake] in
                guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
                wake.yield()
            }
            defer { alarm.cancel() }
            for await _ in rings { return }
        }

        /// An element for each possible change, until the place is left.
        var changes: AsyncStream<Void> { rings }
    }

    /// Takes a place; `nil` if the owner has reached the limit.
    func enter(_ topics: Set<Topic>, of owner: Owner, limit: Int) -> Place? {
        let (rings, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id: UInt64? = state.withLock { state in
            guard state.byOwner[owner, default: 0] < limit else { return nil }
            state.byOwner[owner, default: 0] += 1
            return state.add(topics, wake)
        }
        return id.map { Place(id: $0, topics: topics, owner: owner, rings: rings, wake: wake) }
    }

    /// Takes a place that is not counted, because their number is limited elsewhere.
    func enter(_ topics: Set<Topic>) -> Place {
        let (rings, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { $0.add(topics, wake) }
        return Place(id: id, topics: topics, owner: nil, rings: rings, wake: wake)
    }

    func leave(_ place: Place) {
        place.wake.finish()
        state.withLock { state in
            state.waiting[place.id] = nil
            for topic in place.topics {
                state.byTopic[topic]?.remove(place.id)
                if state.byTopic[topic]?.isEmpty == true { state.byTopic[topic] = nil }
            }
            guard let owner = place.owner else { return }
            let rest = state.byOwner[owner, default: 1] - 1
            state.byOwner[owner] = rest > 0 ? rest : nil
        }
    }

    /// Wakes the callers that wait for some topics.
    func wake(_ topics: Set<Topic>) {
        guard !topics.isEmpty else { return }
        state.withLock { state in
            for id in topics.flatMap({ state.byTopic[$0] ?? [] }) { state.waiting[id]?.yield() }
        }
    }

    func wakeAll() {
        state.withLock { state in
            for wake in state.waiting.values { wake.yield() }
        }
    }
}

/// Typing notices, for users who wait at this moment. They are not stored.
package final class TypingNotices: Sendable {
    package struct Notice: Sendable, Hashable {
        package let stream: MessageStreamID
        package let user: UserID
    }

    private struct State {
        /// The number of the last place.
        var last: UInt64 = 0
        var waiting: [UserID: [UInt64: Set<Notice>]] = [:]
        var said: [UserID: ContinuousClock.Instant] = [:]
    }

    /// The maximum number of notices in a place. A caller that does not take them gets no further ones.
    private static let mostNotices = 64
    /// The maximum number of users whose last notice is stored.
    private static let mostKnown = 10_000

    private let state = Mutex(State())

    /// Whether a user's notice is permitted: one in a second.
    func permits(_ user: UserID, at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            if let last = state.said[user], now - last < .seconds(1) { return false }
            if state.said.count >= Self.mostKnown { state.said = state.said.filter { now - $0.value < .seconds(1) } }
            guard state.said.count < Self.mostKnown else { return false }
            state.said[user] = now
            return true
        }
    }

    func enter(_ user: UserID) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.waiting[user, default: [:]][state.last] = []
            return state.last
        }
    }

    func leave(_ user: UserID, _ place: UInt64) {
        state.withLock { state in
            state.waiting[user]?[place] = nil
            if state.waiting[user]?.isEmpty == true { state.waiting[user] = nil }
        }
    }

    /// Whether a user waits on this node.
    func holds(_ user: UserID) -> Bool { state.withLock { $0.waiting[user] != nil } }

    /// Delivers a notice to users. Returns the users who wait.
    func show(_ notice: Notice, to users: [UserID]) -> [UserID] {
        state.withLock { state in
            users.filter { user in
                guard let places = state.waiting[user] else { return false }
                for (place, notices) in places where notices.count < Self.mostNotices {
                    state.waiting[user]?[place]?.insert(notice)
                }
                return true
            }
        }
    }

    /// Returns and removes the notices of a place.
    func take(_ user: UserID, _ place: UInt64) -> [Notice] {
        state.withLock { state in
            let notices = state.waiting[user]?[place] ?? []
            if !notices.isEmpty { state.waiting[user]?[place] = [] }
            return Array(notices)
        }
    }
}
