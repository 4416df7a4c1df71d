import Foundation
import GRDB
import Synchronization

/// The reading connections. A read uses a free connection at once. If all are busy, it waits in one queue. Readers and
/// the writer never wait for each other.
final class SQLiteReaders: Sendable {
    /// One read, given a connection.
    typealias Read = @Sendable (Result<GRDB.Database, StoreError>) -> Void

    private struct State {
        var line = FIFOQueue<Read>()
        var free: [Int]
        var isClosed = false
    }

    private let queues: [DatabaseQueue]
    private let clock: @Sendable () -> Date
    /// Whether the connections are writable, so that writes in a read must be refused.
    private let mayWrite: Bool
    private let state: Mutex<State>

    init(_ queues: [DatabaseQueue], clock: @escaping @Sendable () -> Date, mayWrite: Bool = false) {
        self.queues = queues
        self.mayWrite = mayWrite
        self.clock = clock
        state = Mutex(State(free: Array(queues.indices)))
    }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let (clock, mayWrite) = (clock, mayWrite)
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            submit { connection in
                continuation.resume(
                    with: Result {
                        try Self.run(body, on: try connection.get(), now: clock(), requiresReading: mayWrite)
                    })
            }
        }
    }

    /// Accepts no more reads, finishes the queued ones and closes the connections.
    func close() throws {
        state.withLock { $0.isClosed = true }
        for queue in queues {
            try queue.letGo()
        }
    }

    private static func run<T>(
        _ body: (any Transaction) throws -> T, on connection: GRDB.Database, now: Date, requiresReading: Bool
    ) throws -> T {
        try connection.perform("BEGIN")
        defer {
            if connection.hasOpenTransaction {
                try? connection.perform("ROLLBACK")
            }
        }
        return try SQLiteTransaction(connection, now: now, requiresReading: requiresReading).run(body)
    }

    private func submit(_ read: @escaping Read) {
        let (refusal, reader) = state.withLock { state -> (StoreError?, Int?) in
            guard !state.isClosed else { return (.closed, nil) }
            if let reader = state.free.popLast() { return (nil, reader) }
            return (state.line.append(read) ? nil : .unavailable(reason: "too many readers wait"), nil)
        }
        if let refusal {
            read(.failure(refusal))
        } else if let reader {
            queues[reader].asyncWriteWithoutTransaction { connection in
                read(.success(connection))
                while let next = self.next(for: reader) {
                    next(.success(connection))
                }
            }
        }
    }

    /// The oldest queued read; `nil` if there is none, which makes the reader free.
    private func next(for reader: Int) -> Read? {
        state.withLock { state in
            let next = state.line.take(atMost: 1).first
            if next == nil {
                state.free.append(reader)
            }
            return next
        }
    }
}
