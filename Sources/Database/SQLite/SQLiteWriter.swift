import Foundation
import GRDB
import Synchronization

/// The only writing connection. Writers that arrive during a commit share the next one, each in its savepoint. The disk
/// is synchronized once, and then every caller is answered.
///
/// A writer without predecessors starts at once. The queue of the connection is the serial executor, so a cancelled
/// task neither interrupts a commit nor leaves a caller without a result.
final class SQLiteWriter: Sendable {
    /// The maximum number of writers in a commit. It bounds the wait of the first writer.
    static let maximumBatch = 256

    private struct State {
        var line = FIFOQueue<PendingWrite>()
        /// Writes of ``Lane/administration``, which go first.
        var urgent = FIFOQueue<PendingWrite>()
        var isDraining = false
        var isClosed = false
        var begun = 0
        var commits = 0
        var queue: DatabaseQueue
        /// The time of the last `PRAGMA optimize`.
        var optimized = ContinuousClock.now
        /// Whether a failure left the connection's state uncertain.
        var isDoubtful = false
        /// The reason of that failure.
        var failed = ""
        /// Whether the last commit, or one of its writers, failed because of the store.
        var hasFailed = false
        /// The time of the last attempt to empty a long log.
        var emptied: ContinuousClock.Instant?
    }

    private let clock: @Sendable () -> Date
    private let optimizeInterval: Duration
    /// The maximum size of the log in bytes, except for writes while readers use it.
    private let logBound: Int
    /// Opens a new connection; `nil` for a store in memory.
    private let reopen: (@Sendable () throws -> DatabaseQueue)?
    private let state: Mutex<State>

    init(
        _ queue: DatabaseQueue, clock: @escaping @Sendable () -> Date, optimizeInterval: Duration = .seconds(86_400),
        logBound: Int = SQLiteFile.logBound,
        reopen: (@Sendable () throws -> DatabaseQueue)? = nil
    ) {
        self.clock = clock
        self.optimizeInterval = optimizeInterval
        self.logBound = logBound
        self.reopen = reopen
        state = Mutex(State(queue: queue))
    }

    /// The number of writes in the queue.
    var waiting: Int { state.withLock { $0.line.count + $0.urgent.count } }

    /// The number of writes taken from the queue.
    var begun: Int { state.withLock { $0.begun } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether the last commit, or one of its writers, failed because of the store, as on a full disk.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    var commits: Int { state.withLock { $0.commits } }

    /// Appends a write to the queue.
    func submit(_ write: PendingWrite, on lane: Lane = .usual) {
        let refusal = state.withLock { state -> StoreError? in
            guard !state.isClosed else { return .closed }
            let isInLine = lane == .administration ? state.urgent.append(write) : state.line.append(write)
            guard isInLine else { return .unavailable(reason: "too many writers wait") }
            if !state.isDraining { begin(&state) }
            return nil
        }
        if let refusal { write.refuse(refusal) }
    }

    private func begin() { state.withLock { begin(&$0) } }

    /// Starts the connection's work on the queue.
    private func begin(_ state: inout State) {
        state.isDraining = true
        state.queue.asyncWriteWithoutTransaction { self.drain($0) }
    }

    /// Copies the write-ahead log into the file and truncates it; `false` if a reader still uses it.
    func clearLog() async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { $0.queue }.asyncWriteWithoutTransaction { connection in
                continuation.resume(
                    with: Result {
                        try SQLiteFile.requireUnmoved(connection.sqliteConnection)
                        return try connection.emptyLog()
                    })
            }
        }
    }

    /// The pause after a log could not be emptied.
    private static let logPause: Duration = .seconds(1)

    /// Empties a log that exceeds its bound. Under steady load the log always has a reader, so it would never restart
    /// by itself.
    private func boundLog(_ connection: GRDB.Database) {
        guard reopen != nil else { return }
        let path = state.withLock { $0.queue.path }
        guard SQLiteFile.logSize(of: path) > logBound else { return }
        let isDue = state.withLock { state in
            guard state.emptied.map({ ContinuousClock.now - $0 >= Self.logPause }) ?? true else { return false }
            state.emptied = .now
            return true
        }
        guard isDue, let isEmpty = try? connection.emptyLog(), isEmpty else { return }
        state.withLock { $0.emptied = nil }
    }

    /// Accepts no more writes, finishes the queued ones and closes the connection.
    func close() throws {
        state.withLock { $0.isClosed = true }
        // A connection that is opened meanwhile gets the rest of the queue.
        var last: DatabaseQueue?
        while true {
            let queue = state.withLock { $0.queue }
            if queue === last { return }
            if reopen != nil { queue.writeWithoutTransaction { $0.optimize() } }
            try queue.letGo()
            last = queue
        }
    }

    private func drain(_ connection: GRDB.Database) {
        while true {
            // At once, so that readers see the state after the failed commit.
            if replaceIfDoubtful() != nil { return begin() }
            guard let batch = nextBatch() else { return }
            // Again, for a write that arrived during a failed attempt: the disk may have recovered since.
            if let queue = replaceIfDoubtful() {
                return queue.asyncWriteWithoutTransaction { replacement in
                    self.commit(batch, on: replacement)
                    self.drain(replacement)
                }
            }
            commit(batch, on: connection)
            boundLog(connection)
            let isDue = state.withLock { state in
                guard ContinuousClock.now - state.optimized >= optimizeInterval else { return false }
                state.optimized = .now
                return true
            }
            if isDue { connection.optimize() }
        }
    }

    /// Replaces a failed connection; `nil` if that is not necessary, or not possible yet.
    private func replaceIfDoubtful() -> DatabaseQueue? {
        guard state.withLock({ $0.isDoubtful }), let reopen, let queue = try? reopen() else { return nil }
        let former = state.withLock { state in
            defer { (state.queue, state.isDoubtful) = (queue, false) }
            return state.queue
        }
        // This runs on the connection's own queue, which cannot wait for itself.
        DispatchQueue.global().async { try? former.letGo() }
        return queue
    }

    private func nextBatch() -> [PendingWrite]? {
        state.withLock { state in
            var batch = state.urgent.take(atMost: Self.maximumBatch)
            batch += state.line.take(atMost: Self.maximumBatch - batch.count)
            state.isDraining = !batch.isEmpty
            state.begun += batch.count
            return batch.isEmpty ? nil : batch
        }
    }

    private func commit(_ batch: [PendingWrite], on connection: GRDB.Database) {
        do throws(StoreError) {
            if let failed = state.withLock({ $0.isDoubtful ? $0.failed : nil }) {
                throw StoreError.unavailable(reason: "SQLite cannot be opened again after a failure: \(failed)")
            }
            try SQLiteFile.requireUnmoved(connection.sqliteConnection)
            try connection.perform("BEGIN IMMEDIATE")
        } catch {
            state.withLock { $0.hasFailed = true }
            for write in batch { write.refuse(error) }
            return
        }
        var outcomes: [PendingWrite.Outcome] = []
        outcomes.reserveCapacity(batch.count)
        var failure: StoreError?
        do throws(StoreError) {
            try run(batch, on: connection, &outcomes)
            // Pages that were written and rolled back would still be logged and synchronized.
            try end(outcomes.contains(where: \.isKept) ? "COMMIT" : "ROLLBACK", on: connection)
        } catch {
            failure = error
            if connection.hasOpenTransaction {
                try? connection.perform("ROLLBACK")
            }
            if error == .outcomeUnknown(reason: "") || connection.hasOpenTransaction {
                state.withLock { ($0.isDoubtful, $0.failed) = (reopen != nil, "\(error)") }
            }
        }
        let isCommitted = failure == nil && outcomes.contains(where: \.isKept)
        let hasFailed = failure != nil || outcomes.contains(where: \.isFailed)
        state.withLock { state in
            if isCommitted { state.commits += 1 }
            // A body without writes says nothing about the disk.
            if isCommitted || hasFailed { state.hasFailed = hasFailed }
        }
        for outcome in outcomes { outcome.settle(failure) }
        if let failure {
            for write in batch.dropFirst(outcomes.count) { write.refuse(failure) }
        }
    }

    private func run(
        _ batch: [PendingWrite], on connection: GRDB.Database, _ outcomes: inout [PendingWrite.Outcome]
    ) throws(StoreError) {
        for write in batch {
            try connection.perform("SAVEPOINT writer")
            let outcome = write.run(SQLiteTransaction(connection, now: clock()))
            outcomes.append(outcome)
            // Failures such as a full disk end the whole transaction. If the batch continued, each remaining writer
            // would be committed separately, and the previous ones would be lost.
            guard connection.hasOpenTransaction else {
                throw StoreError.unavailable(reason: "the transaction was ended by a failure of another writer")
            }
            if !outcome.isKept {
                try connection.perform("ROLLBACK TO writer")
            }
            try connection.perform("RELEASE writer")
        }
    }

    /// Ends the transaction. A commit that the disk refused may still be in the log, complete and valid, and would be
    /// recovered after this process has died.
    private func end(_ command: String, on connection: GRDB.Database) throws(StoreError) {
        do {
            try connection.perform(command)
        } catch {
            guard case .unavailable(let reason) = error, command == "COMMIT",
                connection.lastErrorCode != .SQLITE_BUSY
            else { throw error }
            throw .outcomeUnknown(reason: reason)
        }
    }
}

extension GRDB.Database {
    /// Updates the statistics by which SQLite chooses indexes, as it recommends for files that stay open (`PRAGMA
    /// optimize`). If another process writes, this is skipped until the next time.
    func optimize() {
        guard let patience = try? setting("PRAGMA busy_timeout") else { return }
        try? perform("PRAGMA busy_timeout = \(min(patience, 100))")
        // A few hundred rows of each index are enough.
        try? perform("PRAGMA analysis_limit = 400")
        try? perform("PRAGMA optimize")
        try? perform("PRAGMA busy_timeout = \(patience)")
    }
}

/// A write in the queue.
struct PendingWrite: Sendable {
    let run: @Sendable (SQLiteTransaction) -> Outcome
    /// Reports to the caller that the body was not run.
    let refuse: @Sendable (StoreError) -> Void

    /// The result of a body before the commit.
    struct Outcome {
        /// Whether the body's changes are kept.
        let isKept: Bool
        /// Whether the store caused the failure.
        let isFailed: Bool
        /// Completes the call, with the body's result or the commit's failure.
        let settle: (_ failure: StoreError?) -> Void
    }

    init<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T, _ continuation: CheckedContinuation<T, any Error>
    ) {
        run = { transaction in
            let result = Result { try transaction.run(body) }
            let isKept = if case .success = result { true } else { false }
            let isFailed = if case .failure(StoreError.unavailable) = result { true } else { false }
            return Outcome(isKept: isKept, isFailed: isFailed) { failure in
                if let failure {
                    continuation.resume(throwing: failure)
                } else {
                    continuation.resume(with: result)
                }
            }
        }
        refuse = { continuation.resume(throwing: $0) }
    }
}
