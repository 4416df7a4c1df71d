import Foundation

/// A store that keeps tables and runs transactions over them: what every engine offers, and nothing of what is kept.
///
/// SQL is written once for all engines, in the subset that they share: `$1`-style parameters, `ON CONFLICT`,
/// `RETURNING`, and columns of `TEXT`, `BIGINT`, `INTEGER`, `DOUBLE PRECISION` and `BYTEA`. A truth value is an
/// `INTEGER` of 0 or 1. No deferred constraints: several writers may share one commit, and such a constraint would
/// fail all of them.
package protocol Database: KeepsChangeLog {
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

    /// Runs a body like ``write(_:)``; where others of its turn are in the way, one behind the other with them on every node:
    /// those who read and change the same rows do not take one another back.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`; only after `outcomeUnknown` may anything of it be kept.
    @discardableResult
    func write<T: Sendable>(
        inTurn turn: Turn, _ body: @Sendable @escaping (any Transaction) throws -> T
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

    /// With one writer everybody goes one behind the other.
    @discardableResult
    package func write<T: Sendable>(
        inTurn turn: Turn, _ body: @Sendable @escaping (any Transaction) throws -> T
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

    /// Nothing is to be done where the log is in the hands of a server of its own.
    @discardableResult
    package func clearLog() async throws -> Bool { true }
}
