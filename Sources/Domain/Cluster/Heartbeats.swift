/// How old a process's view of its store is, by commits of its own that overlap: the next one begins on time, however
/// long those before it take. So a view is older than the wait for a commit by little.
package struct Heartbeats<Commit: Sendable>: Sendable {
    package typealias Moment = ContinuousClock.Instant

    /// A commit that was begun.
    package struct Beat: Sendable, Hashable {
        package let begunAt: Moment
        /// What was begun before the server was replaced proves nothing of the next one.
        fileprivate let life: Int
    }

    /// How old a view may be.
    package var maximumAge: Duration
    /// How many are under way at most: each takes a connection.
    private let most: Int
    private var life = 0
    private var underWay = 0
    private var lastBegunAt: Moment?
    /// Commits that were made and that no reading has shown yet, oldest first.
    private var done: [(begunAt: Moment, commit: Commit)] = []
    /// What was committed anywhere before this is in the view.
    package private(set) var freshAt: Moment

    package init(at moment: Moment, maximumAge: Duration, most: Int) {
        (freshAt, self.maximumAge, self.most) = (moment, maximumAge, most)
    }

    /// As many begin in the time that a view may be old as may be under way: a commit that takes most of that time
    /// still comes in time.
    private var interval: Duration { maximumAge / max(1, most) }

    /// Begins the next one, if it is time for it.
    package mutating func begin(at now: Moment) -> Beat? {
        guard underWay < most, lastBegunAt.map({ now - $0 >= interval }) ?? true else { return nil }
        underWay += 1
        lastBegunAt = now
        return Beat(begunAt: now, life: life)
    }

    /// How long to wait before the next one can begin.
    package func pause(at now: Moment) -> Duration {
        let due = lastBegunAt.map { interval - (now - $0) } ?? .zero
        return max(due, .milliseconds(10))
    }

    /// One is over.
    ///
    /// - Parameter commit: what was committed; `nil` where that is not known, which proves nothing.
    package mutating func end(_ beat: Beat, _ commit: Commit?) {
        underWay -= 1
        guard let commit, beat.life == life, beat.begunAt > freshAt else { return }
        let place = done.firstIndex { $0.begunAt > beat.begunAt } ?? done.endIndex
        done.insert((beat.begunAt, commit), at: place)
        // While no reading comes back they would add up.
        if done.count > 2 * most { done.removeFirst() }
    }

    /// The store was read. Its age counts from the begin of the youngest commit that the reading shows: what was
    /// committed elsewhere before that is in it.
    package mutating func read(showing shows: (Commit) -> Bool) {
        guard let last = done.lastIndex(where: { shows($0.commit) }) else { return }
        freshAt = max(freshAt, done[last].begunAt)
        done.removeSubrange(...last)
    }

    /// The store was read, and a reading is as young as the store itself.
    package mutating func read(begunAt moment: Moment) { freshAt = max(freshAt, moment) }

    /// Another server may have given what was committed.
    package mutating func forget() {
        life += 1
        done = []
    }

    /// Whether a reading would make the view younger, and is to come before its turn.
    package func wantsReading(at now: Moment) -> Bool { !done.isEmpty && now - freshAt > maximumAge / 4 }
}
