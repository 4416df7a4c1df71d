import Foundation

/// A store that keeps tables and runs transactions over them: what every engine offers, and nothing of what is kept.
///
/// SQL is written once for all engines, in the subset that they share: `$1`-style parameters, `ON CONFLICT`,
/// `RETURNING`, and columns of `TEXT`, `BIGINT`, `INTEGER`, `DOUBLE PRECISION` and `BYTEA`. A truth value is an
/// `INTEGER` of 0 or 1. No deferred constraints: several writers may share one commit, and such a constraint would
/// fail all of them.
package protocol Database: Sendable {
    /// Runs a body over one consistent snapshot; it must not change anything.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Runs a body like ``read(_:)``, on a connection that is kept for whoever keeps a process's memory true: a crowd of
    /// readers does not keep it waiting.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    func readReserved<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Runs a body like ``read(_:)``, in a line with those of its lane alone.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T

    /// Runs a body that may change the store. What it wrote is durable when this returns, and gone when this throws.
    ///
    /// A body must be short and do nothing but database work. It sees what earlier writers wrote and no half of any
    /// other. It is carried out at most once, whether or not the calling task is cancelled meanwhile; an engine with
    /// several writers may begin it again after taking everything back, so that it must have no effect elsewhere.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`; only after `outcomeUnknown` may anything of it be kept.
    @discardableResult
    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Runs a body like ``write(_:)``, past those who wait on other lanes.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`; only after `outcomeUnknown` may anything of it be kept.
    @discardableResult
    func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T

    /// Runs a body that finds rows by age or key and decides nothing else from what it reads: beside it no other writer is
    /// taken back. Statements repeat the condition by which they found a row, for others may have changed it since; the
    /// body gives up soon where others hold one.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`; only after `outcomeUnknown` may anything of it be kept.
    @discardableResult
    func maintain<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Carries out a statement that is a whole change, in one transaction with others that come at the same time, in any
    /// order: each wait for the disk and for the server is one for all of them.
    ///
    /// - Returns: its rows.
    /// - Throws: `StoreError`, as ``write(_:)``. What is wrong with one statement fails that one alone.
    func share(_ statement: SharedStatement) async throws -> [Row]

    /// Runs a body that changes the schema; it waits for others, and takes time, as long as it must.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    @discardableResult
    func alter<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Makes an index where it is not there, without keeping writers waiting if the engine can.
    ///
    /// - Throws: `StoreError`.
    func build(_ index: TableIndex) async throws

    /// The rows of one statement that changes nothing, over a snapshot of its own: cheaper than a body of one statement.
    ///
    /// - Throws: `StoreError`.
    func query(_ sql: String, _ arguments: [Value]) async throws -> [Row]

    /// The end of the change log: where a reader begins that remembers nothing yet.
    ///
    /// - Throws: `StoreError`.
    func changePosition() async throws -> ChangePosition

    /// What was committed after a position and not read yet, at most so many changes.
    ///
    /// - Throws: `StoreError`.
    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading

    /// Lets go of changes that every one of these readers has read; of none where there is no reader.
    ///
    /// - Throws: `StoreError`.
    func purgeChanges(below positions: [ChangePosition]) async throws

    /// Commits something, and tells what; `nil` where every reading is as young as the store itself, as that of a file is. A
    /// server that another has replaced may go on answering readers, and it is by its own commits that a process knows
    /// better.
    ///
    /// - Throws: `StoreError`; then the commit proves nothing.
    func heartbeat() async throws -> Heartbeat?

    /// A number that moves whenever another process has committed (and may move at other times).
    ///
    /// Cheap enough to ask every 100 ms. It means nothing by itself: only two answers of the same instance compare.
    ///
    /// - Throws: `StoreError.unavailable`.
    func changeStamp() throws -> Int64

    /// Returns if the store can be reached and read.
    ///
    /// - Throws: `StoreError.unavailable`.
    func check() async throws

    /// Every table of the store, as the engine's catalogue describes it, each behind those that it refers to.
    ///
    /// - Throws: `StoreError`.
    func tables() async throws -> [TableShape]

    /// Empties the log that the engine keeps beside its tables, so that what was overwritten or deleted before lies in no
    /// file of the store.
    ///
    /// - Returns: `false` where a reader or another process still needs the log; then it is to be asked again later.
    /// - Throws: `StoreError.unavailable`.
    @discardableResult
    func clearLog() async throws -> Bool

    /// Finishes what was already asked for, then lets go of the store; every later call throws
    /// `StoreError.unavailable`. Closing twice is harmless.
    func close() async throws
}

extension Database {
    /// A store that has no such connection reads like for anybody else.
    package func readReserved<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await read(body)
    }

    /// A store without lanes.
    package func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await read(body)
    }

    /// A store without lanes.
    @discardableResult
    package func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await write(body)
    }

    /// With one writer there is nobody to be taken back.
    @discardableResult
    package func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await write(body)
    }

    /// A writer that combines commits has nothing else to gain.
    package func share(_ statement: SharedStatement) async throws -> [Row] {
        try await write { try statement.carryOut(in: $0) }
    }

    /// An engine with one writer knows no shorter patience than this.
    @discardableResult
    package func alter<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await write(body)
    }

    /// An engine with one writer makes it in a write.
    package func build(_ index: TableIndex) async throws {
        try await alter { _ = try $0.execute(index.statement) }
    }

    /// An engine that gains nothing by it.
    package func query(_ sql: String, _ arguments: [Value]) async throws -> [Row] {
        try await read { try $0.query(sql, arguments) }
    }

    /// A store without a change log.
    package func changePosition() async throws -> ChangePosition { throw StoreError.noChangeLog }

    /// A store without a change log.
    package func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        throw StoreError.noChangeLog
    }

    /// A store without a change log.
    package func purgeChanges(below positions: [ChangePosition]) async throws { throw StoreError.noChangeLog }

    /// A store that is one file, which has no other in its place.
    package func heartbeat() async throws -> Heartbeat? { nil }

    /// Nothing is to be done where the log is in the hands of a server of its own.
    @discardableResult
    package func clearLog() async throws -> Bool { true }
}

/// The one conversation with the store that a `read` or `write` body holds; it ends with the body.
///
/// The first statement that fails ends the conversation, on every engine: later statements throw the same error, and
/// so does the `read` or `write` even where the body swallows it. A conflict that is expected is therefore written as
/// `ON CONFLICT DO NOTHING` and seen in the number of changed rows. The statements that control a transaction
/// (`BEGIN`, `COMMIT`, `SAVEPOINT`, …) belong to the store, not to a body.
package protocol Transaction {
    /// The store's clock in whole milliseconds: what expiry is judged by, one instant throughout a body.
    var now: Date { get }

    /// Whose statements it takes, where a migration has some for each.
    var engine: Engine { get }

    /// All rows of a statement, in its order.
    ///
    /// - Parameters:
    ///   - sql: one statement in the shared subset; text made at run time from input is never part of it.
    ///   - arguments: the value of `$1` first; as many as the highest parameter.
    /// - Throws: `StoreError`.
    func query(_ sql: String, _ arguments: [Value]) throws -> [Row]

    /// The first row of a statement, or nil where there is none. A changing statement is always carried out whole.
    ///
    /// - Throws: `StoreError`.
    func first(_ sql: String, _ arguments: [Value]) throws -> Row?

    /// Carries a statement out.
    ///
    /// - Returns: how many rows it inserted, updated or deleted itself.
    /// - Throws: `StoreError`.
    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int

    /// Carries a statement out before the next one or before the commit, whichever comes first; how many rows it
    /// changed is not known. An engine that lies across a network saves a wait with it. A mistake fails the body all
    /// the same.
    ///
    /// - Throws: `StoreError`, here or later.
    func enqueue(_ sql: String, _ arguments: [Value]) throws

    /// Makes the tables of the change log, which differ by engine: for a migration.
    ///
    /// - Throws: `StoreError`.
    func createChangeLog() throws

    /// Deletes all entries of the change log, however many there are.
    ///
    /// - Throws: `StoreError`.
    func emptyChangeLog() throws

    /// Writes an entry of the change log, which its readers see after the commit.
    ///
    /// - Parameter kind: from 0 to 32,767.
    /// - Throws: `StoreError`, here or later.
    func appendChange(kind: Int, key: [UInt8]) throws
}

extension Transaction {
    package var engine: Engine { .sqlite }

    /// Stands behind a `SELECT` of rows that the transaction is about to change: others who want them wait for its end,
    /// and it finds them as they are then. On an engine with one writer nobody else is there.
    package var lockingRows: String { engine == .postgreSQL ? " FOR NO KEY UPDATE" : "" }

    /// The same for a statement that takes some rows of many: it passes over those that others have.
    package var lockingFreeRows: String { engine == .postgreSQL ? " FOR NO KEY UPDATE SKIP LOCKED" : "" }

    /// A store without a change log.
    package func createChangeLog() throws { throw StoreError.noChangeLog }

    package func emptyChangeLog() throws { try execute("DELETE FROM change_log") }

    /// A store without a change log.
    package func appendChange(kind: Int, key: [UInt8]) throws { throw StoreError.noChangeLog }

    /// At once, where waiting saves nothing.
    package func enqueue(_ sql: String, _ arguments: [Value]) throws {
        try execute(sql, arguments)
    }

    /// All rows of a statement without parameters.
    package func query(_ sql: String) throws -> [Row] { try query(sql, []) }

    /// The first row of a statement without parameters.
    package func first(_ sql: String) throws -> Row? {
        try first(sql, [])
    }

    /// Carries a statement out once for each row of arguments.
    ///
    /// - Throws: `StoreError`.
    package func execute(_ sql: String, rows: [[Value]]) throws {
        for arguments in rows { try enqueue(sql, arguments) }
    }

    /// Carries a statement without parameters out and returns the number of changed rows.
    @discardableResult package func execute(_ sql: String) throws -> Int {
        try execute(sql, [])
    }
}
