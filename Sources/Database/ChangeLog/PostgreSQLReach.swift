import Synchronization

/// Whether a server answers this process, as its heartbeats tell. Where there are none, as in a command, it always
/// does.
struct Reach: Sendable {
    typealias Moment = ContinuousClock.Instant

    /// For how long no heartbeat may have come through before the server counts as lost.
    static let patience = Duration.seconds(2)

    private var underWay = 0
    private var lastBegunAt: Moment?
    /// The begin of the oldest heartbeat that no later one has overtaken.
    private var waitingSince: Moment?

    mutating func begin(at now: Moment) {
        underWay += 1
        lastBegunAt = now
        waitingSince = waitingSince ?? now
    }

    mutating func end(begunAt moment: Moment, hasCommitted: Bool) {
        underWay -= 1
        guard hasCommitted else { return }
        waitingSince = underWay > 0 ? waitingSince.map { max($0, moment) } : nil
    }

    /// Whether the server is lost. It is not where nobody has tried lately.
    func isLost(at now: Moment) -> Bool {
        guard let waitingSince, let lastBegunAt, now - waitingSince > Self.patience else { return false }
        return underWay > 0 || now - lastBegunAt < Self.patience
    }
}

/// The same, for all connections of a store.
final class PostgreSQLReach: Sendable {
    private let reach = Mutex(Reach())

    func begin(at now: Reach.Moment = .now) -> Reach.Moment {
        reach.withLock { $0.begin(at: now) }
        return now
    }

    func end(begunAt moment: Reach.Moment, hasCommitted: Bool) {
        reach.withLock { $0.end(begunAt: moment, hasCommitted: hasCommitted) }
    }

    var isLost: Bool { reach.withLock { $0.isLost(at: .now) } }
}

/// What a lane's connections do while the server is lost.
struct LaneReach: Sendable {
    let reach: PostgreSQLReach
    /// Whether they go on asking: somebody has to find the server again. Others ask nothing, and wait for nothing.
    var triesAgain = false

    /// After how many milliseconds a wait looks whether the server is lost.
    static let slice = 250.0

    /// Whether nothing is to be asked.
    var isClosed: Bool { !triesAgain && reach.isLost }

    /// Whether an answer is awaited no more that was asked for at some moment.
    func isGivenUp(since moment: Reach.Moment) -> Bool {
        reach.isLost && (!triesAgain || ContinuousClock.now - moment > Reach.patience)
    }
}
