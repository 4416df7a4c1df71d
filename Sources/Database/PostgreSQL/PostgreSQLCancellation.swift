import CPostgreSQL
import Dispatch
import Synchronization

/// Asks the server to give up what a connection is doing (PostgreSQL, 34.7); any thread may.
final class PostgreSQLCanceller: Sendable {
    /// A server that does not answer holds up no thread but this queue's.
    private static let queue = DispatchQueue(label: "countersign.store.cancel")
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// - Parameter connection: libpq's connection, which need not outlive this.
    init?(_ connection: OpaquePointer) {
        guard let pointer = PQgetCancel(connection) else { return nil }
        self.pointer = pointer
    }

    deinit {
        PQfreeCancel(pointer)
    }

    /// Sends the request and returns at once.
    func cancel() {
        Self.queue.async {
            var sentence = [CChar](repeating: 0, count: 256)
            _ = PQcancel(self.pointer, &sentence, Int32(sentence.count))
        }
    }
}

/// Carries the word of a caller who gives up to the connection that works for it.
final class PostgreSQLCancellation: Sendable {
    private enum State {
        case waiting
        case running(PostgreSQLCanceller?)
        case givenUp
    }

    private let state = Mutex(State.waiting)

    /// How many seconds a read may go on whose caller gave up. Most are over sooner, so that a service that stops reports
    /// no failure of its last reads.
    private static let patience = 1.0

    /// The caller gives up.
    func cancel() {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { self.giveUp() }
    }

    private func giveUp() {
        state.withLock { state in
            if case .running(let canceller) = state { canceller?.cancel() }
            state = .givenUp
        }
    }

    /// A connection begins; `false` where nobody waits for it any more.
    func begin(_ canceller: PostgreSQLCanceller?) -> Bool {
        state.withLock { state in
            if case .givenUp = state { return false }
            state = .running(canceller)
            return true
        }
    }

    /// The connection is done; `false` where a request is on its way, which may meet what the connection does next.
    func end() -> Bool {
        state.withLock { state in
            if case .givenUp = state { return false }
            state = .waiting
            return true
        }
    }
}

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
