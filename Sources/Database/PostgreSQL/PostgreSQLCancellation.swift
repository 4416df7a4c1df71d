import CPostgreSQL
import Dispatch
import Synchronization

/// Asks the server to cancel a connection's statement (PostgreSQL, 34.7). It may be used from any thread.
final class PostgreSQLCanceller: Sendable {
    /// A server that does not respond blocks only this queue's thread.
    private static let queue = DispatchQueue(label: "countersign.store.cancel")
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// - Parameter connection: libpq's connection, which may be closed before this object ends.
    init?(_ connection: OpaquePointer) {
        guard let pointer = PQgetCancel(connection) else { return nil }
        self.pointer = pointer
    }

    deinit {
        PQfreeCancel(pointer)
    }

    /// Sends the request without waiting.
    func cancel() {
        Self.queue.async {
            var sentence = [CChar](repeating: 0, count: 256)
            _ = PQcancel(self.pointer, &sentence, Int32(sentence.count))
        }
    }
}

/// Passes a caller's cancellation on to the connection that executes its statement.
final class PostgreSQLCancellation: Sendable {
    private enum State {
        case waiting
        case running(PostgreSQLCanceller?)
        case givenUp
    }

    private let state = Mutex(State.waiting)

    /// How many seconds a read may continue after its caller was cancelled. Most reads finish sooner, so a service that
    /// stops reports no failures of its last reads.
    private static let patience = 1.0

    func cancel() {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { self.giveUp() }
    }

    private func giveUp() {
        state.withLock { state in
            if case .running(let canceller) = state { canceller?.cancel() }
            state = .givenUp
        }
    }

    /// A connection starts the work; `false` if the caller was cancelled already.
    func begin(_ canceller: PostgreSQLCanceller?) -> Bool {
        state.withLock { state in
            if case .givenUp = state { return false }
            state = .running(canceller)
            return true
        }
    }

    /// The connection is done; `false` if a cancellation is pending, which may hit the connection's next statement.
    func end() -> Bool {
        state.withLock { state in
            if case .givenUp = state { return false }
            state = .waiting
            return true
        }
    }
}

/// Whether a server responds to this process, by its heartbeats. Without heartbeats, as in a command, it always does.
struct Reach: Sendable {
    typealias Moment = ContinuousClock.Instant

    /// The time without a completed heartbeat after which the server is considered lost.
    static let patience = Duration.seconds(2)

    private var underWay = 0
    private var lastBegunAt: Moment?
    /// The time since which no heartbeat has completed; `nil` while none is in progress.
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

    /// Whether the server is lost. It is not lost without a recent attempt.
    func isLost(at now: Moment) -> Bool {
        guard let waitingSince, let lastBegunAt, now - waitingSince > Self.patience else { return false }
        return underWay > 0 || now - lastBegunAt < Self.patience
    }
}

/// The reach of a server, shared by all connections of a store.
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

/// The behaviour of a lane's connections while the server is lost.
struct LaneReach: Sendable {
    let reach: PostgreSQLReach
    /// Whether they continue to send statements, because some connection must detect the server's return. All others
    /// fail at once.
    var triesAgain = false

    /// The interval in milliseconds in which a wait checks if the server is lost.
    static let slice = 250.0

    /// Whether no statement may be sent.
    var isClosed: Bool { !triesAgain && reach.isLost }

    /// Whether to stop waiting for the response to a request that was sent at `moment`.
    func isGivenUp(since moment: Reach.Moment) -> Bool {
        reach.isLost && (!triesAgain || ContinuousClock.now - moment > Reach.patience)
    }
}
