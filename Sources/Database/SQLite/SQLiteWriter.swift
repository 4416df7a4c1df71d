import Foundation
import GRDB
import Synchronization

/// The only connection that writes. Writers that come while a commit is under way share the next one, each in its
/// savepoint: the disk is waited for once, and every caller is answered after that.
///
/// A writer that finds nobody before it is begun at once. The queue of the connection is the serial executor, so that
/// a cancelled task neither interrupts a commit nor leaves a caller without an answer.
final class SQLiteWriter: Sendable {
    /// How many writers share a commit at most: it bounds how long the first of them waits for the last.
    static let maximumBatch = 256

    private struct State {
        var line = FIFOQueue<PendingWrite>()
        /// Those of ``Lane/administration``, who go first.
        var urgent = FIFOQueue<PendingWrite>()
        var isDraining = false
        var isClosed = false
        var begun = 0
        var commits = 0
        var queue: DatabaseQueue
        /// When the statistics were last looked after.
        var optimized = ContinuousClock.now
        /// Whether the connection has failed in a way that leaves its state in doubt.
        var isDoubtful = false
        /// How it failed, in a sentence.
        var failed = ""
        /// Whether the store failed the last commit, or a writer of it.
        var hasFailed = false
        /// When the log was last found too long.
        var emptied: ContinuousClock.Instant?
    }

    private let clock: @Sendable () -> Date
    private let optimizeInterval: Duration
    /// The largest size of the log, in bytes, but for what is written while readers hold it.
    private let logBound: Int
    /// Makes a connection anew; `nil` where the store lies in its connection.
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

    /// How many writes wait for a commit that has not begun.
    var waiting: Int { state.withLock { $0.line.count + $0.urgent.count } }

    /// How many writes were taken out of the line.
    var begun: Int { state.withLock { $0.begun } }

    /// Whether no more writes are taken.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether the store failed the last commit, or a writer of it, as a full disk does.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// How many commits there were.
    var commits: Int { state.withLock { $0.commits } }

    /// Puts a write in line.
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

    /// Has the connection carry out what is in line.
    private func begin(_ state: inout State) {
        state.isDraining = true
        state.queue.asyncWriteWithoutTransaction { self.drain($0) }
    }

    /// Copies the write-ahead log into the file and truncates it; `false` where somebody still reads from it.
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

    /// How long a log that could not be emptied is left alone.
    private static let logPause: Duration = .seconds(1)

    /// Empties a log that has grown past its bound. Under steady load there is always a reader in it, so that it would
    /// never begin anew.
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

    /// Takes no more writes, finishes those in line and closes the connection.
    func close() throws {
        state.withLock { $0.isClosed = true }
        // A connection that is made anew meanwhile has the rest of the line.
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
            // At once, so that readers see what the failed commit left behind.
            if replaceIfDoubtful() != nil { return begin() }
            guard let batch = nextBatch() else { return }
            // And again for a write that came during an attempt that failed: the disk may have recovered since.
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

    /// A new connection in the place of one that has failed; `nil` if there is no need, or none can be had yet.
    private func replaceIfDoubtful() -> DatabaseQueue? {
        guard state.withLock({ $0.isDoubtful }), let reopen, let queue = try? reopen() else { return nil }
        let former = state.withLock { state in
            defer { (state.queue, state.isDoubtful) = (queue, false) }
            return state.queue
        }
        // It is this connection's own queue that runs here, and cannot wait for itself.
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
            // Pages that were written and taken back would still be logged and waited for.
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
            // Whoever wrote nothing says nothing of the disk.
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
            // A full disk and the like end the whole transaction by themselves. To go on would commit each of the
            // writers that are left by itself and forget those before.
            guard connection.hasOpenTransaction else {
                throw StoreError.unavailable(reason: "the transaction was ended by a failure of another writer")
            }
            if !outcome.isKept {
                try connection.perform("ROLLBACK TO writer")
            }
            try connection.perform("RELEASE writer")
        }
    }

    /// Ends the transaction. What the disk refused may stand in the log all the same, whole and with its mark: whoever
    /// opens the store after this process has died would find it.
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
    /// Looks after the statistics by which SQLite chooses indexes, as it asks of whoever keeps a file open for long
    /// (`PRAGMA optimize`). Where another process writes they wait for the next time.
    func optimize() {
        guard let patience = try? setting("PRAGMA busy_timeout") else { return }
        try? perform("PRAGMA busy_timeout = \(min(patience, 100))")
        // A few hundred rows of each index tell enough.
        try? perform("PRAGMA analysis_limit = 400")
        try? perform("PRAGMA optimize")
        try? perform("PRAGMA busy_timeout = \(patience)")
    }
}
