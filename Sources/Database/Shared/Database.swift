import Foundation

/// A store: tables, and transactions over them. It knows nothing of the tables' contents.
///
/// SQL is written once for all engines, in their common subset: `$1`-style parameters, `ON CONFLICT`, `RETURNING`, and
/// columns of `TEXT`, `BIGINT`, `INTEGER`, `DOUBLE PRECISION` and `BYTEA`. A Boolean is an `INTEGER` of 0 or 1. There
/// are no deferred constraints: several writers may share one commit, and a violated constraint would fail all of them.
package protocol Database: KeepsChangeLog {
    /// Runs a read-only body over one consistent snapshot.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Runs a body like ``read(_:)`` on a connection that is reserved for cache invalidation, so other readers do not
    /// delay it.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    func readReserved<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Runs a body like ``read(_:)`` in the queue of a lane.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T

    /// Runs a body that may change the store. Its changes are durable when this returns, and rolled back when it
    /// throws.
    ///
    /// A body must be short and only access the database. It sees committed changes only. It is committed at most once,
    /// whether or not the calling task is cancelled. An engine with several writers may roll it back and run it again,
    /// so it must not have other side effects.
    ///
    /// - Throws: the body's error, or a `StoreError`. Only after `outcomeUnknown` may its changes have been kept.
    @discardableResult
    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Runs a body like ``write(_:)`` in the queue of a lane.
    ///
    /// - Throws: the body's error, or a `StoreError`. Only after `outcomeUnknown` may its changes have been kept.
    @discardableResult
    func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T

    /// Runs a body like ``write(_:)``. After a conflict with other bodies of its turn, these run one after another on
    /// every node, instead of rolling each other back.
    ///
    /// - Throws: the body's error, or a `StoreError`. Only after `outcomeUnknown` may its changes have been kept.
    @discardableResult
    func write<T: Sendable>(
        inTurn turn: Turn, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T

    /// Whether bodies of a turn run one after another now, because they conflicted a moment ago.
    func isActive(_ turn: Turn) -> Bool

    /// Runs a body that finds rows by age or key and bases no other decision on what it reads. It never causes a
    /// rollback of other writers. Its statements must repeat the condition by which they found a row, because the row
    /// may have changed since. It gives up soon if rows are locked.
    ///
    /// - Throws: the body's error, or a `StoreError`. Only after `outcomeUnknown` may its changes have been kept.
    @discardableResult
    func maintain<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Executes a statement that is a complete change, in one transaction with concurrent others, in any order. They
    /// share one exchange with the server and one durable commit.
    ///
    /// - Returns: its rows.
    /// - Throws: `StoreError`, as ``write(_:)``. An error of one statement fails only that one.
    func share(_ statement: SharedStatement) async throws -> [Row]

    /// Runs a body that changes the schema, without time limits.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    @discardableResult
    func alter<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T

    /// Creates an index if it does not exist, without blocking writers if the engine supports that.
    ///
    /// - Throws: `StoreError`.
    func build(_ index: TableIndex) async throws

    /// The rows of one read-only statement over its own snapshot. This is cheaper than ``read(_:)``.
    ///
    /// - Throws: `StoreError`.
    func query(_ sql: String, _ arguments: [Value]) async throws -> [Row]

    /// A number that changes whenever another process has committed, and possibly at other times.
    ///
    /// It is cheap enough to be read every 100 ms. Only numbers from one instance are comparable.
    ///
    /// - Throws: `StoreError.unavailable`.
    func changeStamp() throws -> Int64

    /// Returns if the store can be reached and read.
    ///
    /// - Throws: `StoreError.unavailable`.
    func check() async throws

    /// Every table of the store, as the engine's catalogue describes it, each after the tables that it references.
    ///
    /// - Throws: `StoreError`.
    func tables() async throws -> [TableShape]

    /// Empties the engine's log, so that deleted and overwritten data is in no file of the store.
    ///
    /// - Returns: `false` if a reader or another process still needs the log. Then it must be called again later.
    /// - Throws: `StoreError.unavailable`.
    @discardableResult
    func clearLog() async throws -> Bool

    /// Finishes pending calls, then closes the store. Every later call throws `StoreError.unavailable`. It may be
    /// called again.
    func close() async throws
}

package extension Database {
    func readReserved<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await read(body)
    }

    func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await read(body)
    }

    @discardableResult
    func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await write(body)
    }

    /// With one writer all bodies run one after another.
    @discardableResult
    func write<T: Sendable>(
        inTurn turn: Turn, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await write(body)
    }

    /// With one writer no bodies conflict.
    func isActive(_ turn: Turn) -> Bool { false }

    /// With one writer no body is rolled back because of another.
    @discardableResult
    func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await write(body)
    }

    /// An engine that combines commits gains nothing else by sharing.
    func share(_ statement: SharedStatement) async throws -> [Row] {
        try await write { try statement.carryOut(in: $0) }
    }

    /// With one writer there are no row locks to give up on.
    @discardableResult
    func alter<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await write(body)
    }

    func build(_ index: TableIndex) async throws {
        try await alter { _ = try $0.execute(index.statement) }
    }

    func query(_ sql: String, _ arguments: [Value]) async throws -> [Row] {
        try await read { try $0.query(sql, arguments) }
    }

    /// A database server maintains its own log.
    @discardableResult
    func clearLog() async throws -> Bool { true }
}
