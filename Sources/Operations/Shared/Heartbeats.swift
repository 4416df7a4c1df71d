/// How old a process's view of its store is. The process measures it by its own commits, which overlap: the next one
/// begins on time, even if earlier ones are slow. So the measured age exceeds the duration of a commit only a little.
struct Heartbeats<Commit: Sendable>: Sendable {
    /// The largest permitted age of a view.
    var maximumAge: Duration
    /// The largest number of concurrent commits; each needs a connection.
    private let most: Int
    private var life = 0
    private var underWay = 0
    private var lastBegunAt: Moment?
    /// Completed commits that no reading has shown yet, oldest first.
    private var done: [(begunAt: Moment, commit: Commit)] = []
    /// The view contains every commit of any node from before this time.
    private(set) var freshAt: Moment
}

extension Heartbeats {
    typealias Moment = ContinuousClock.Instant

    /// A commit that was begun and has not ended.
    struct Beat: Sendable, Hashable {
        let begunAt: Moment
        /// Distinguishes commits from before the server was replaced, which prove nothing about the new server.
        fileprivate let life: Int
    }

    init(at moment: Moment, maximumAge: Duration, most: Int) {
        (freshAt, self.maximumAge, self.most) = (moment, maximumAge, most)
    }

    /// Spreads the concurrent commits evenly over the permitted age, so a commit that takes nearly that long is still
    /// in time.
    private var interval: Duration { maximumAge / max(1, most) }

    /// Begins the next commit; `nil` if it is not due yet.
    mutating func begin(at now: Moment) -> Beat? {
        guard underWay < most, lastBegunAt.map({ now - $0 >= interval }) ?? true else { return nil }
        underWay += 1
        lastBegunAt = now
        return Beat(begunAt: now, life: life)
    }

    /// How long to wait before the next commit can begin.
    func pause(at now: Moment) -> Duration {
        let due = lastBegunAt.map { interval - (now - $0) } ?? .zero
        return max(due, .milliseconds(10))
    }

    /// Ends a commit.
    ///
    /// - Parameter commit: the commit; `nil` if its result is unknown, which proves nothing.
    mutating func end(_ beat: Beat, _ commit: Commit?) {
        underWay -= 1
        guard let commit, beat.life == life, beat.begunAt > freshAt else { return }
        let place = done.firstIndex { $0.begunAt > beat.begunAt } ?? done.endIndex
        done.insert((beat.begunAt, commit), at: place)
        // They would accumulate if no reading arrives.
        if done.count > 2 * most { done.removeFirst() }
    }

    /// Records a reading of the store. It contains everything that was committed before the latest of these commits
    /// that it shows.
    mutating func read(showing shows: (Commit) -> Bool) {
        guard let last = done.lastIndex(where: { shows($0.commit) }) else { return }
        freshAt = max(freshAt, done[last].begunAt)
        done.removeSubrange(...last)
    }

    /// Records a reading that is as fresh as the store itself.
    mutating func read(begunAt moment: Moment) { freshAt = max(freshAt, moment) }

    /// Forgets all commits, because another server may have confirmed them.
    mutating func forget() {
        life += 1
        done = []
    }

    /// Whether a reading would make the view fresher, and must not wait for the next regular one.
    func wantsReading(at now: Moment) -> Bool { !done.isEmpty && now - freshAt > maximumAge / 4 }
}
