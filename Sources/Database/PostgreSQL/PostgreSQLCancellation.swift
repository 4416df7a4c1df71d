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
