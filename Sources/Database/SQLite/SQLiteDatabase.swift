import Foundation
import GRDB

/// The embedded store: a SQLite file with one connection that writes, some that read, and one that detects commits of
/// other processes and reads their changes.
package final class SQLiteDatabase: Database {
    let writer: SQLiteWriter
    private let readers: SQLiteReaders
    private let stamps: Stamps
    private let watching: SQLiteReaders
    /// Checkpoints the log concurrently with the writer; `nil` for a store in memory.
    private let cleaner: DatabaseQueue?

    private enum Stamps {
        case file(SQLiteChangeStamps)
        /// The only connection of a store in memory, so no other process commits there.
        case memory(DatabaseQueue)
    }

    /// Opens the file, and creates it (mode 0600) if it does not exist.
    ///
    /// - Parameters:
    ///   - path: the file; a relative path starts at the working directory.
    ///   - clock: the source of `Transaction.now`.
    ///   - busyTimeout: how many seconds a write waits for another process's write.
    ///   - optimizeInterval: the interval of `PRAGMA optimize`, which also runs when the store closes.
    ///   - logBound: the size of the write-ahead log in bytes, beyond which it is emptied at once.
    /// - Throws: `StoreError.unavailable`.
    package init(
        path: String, clock: @escaping @Sendable () -> Date, busyTimeout: TimeInterval = 5,
        optimizeInterval: Duration = .seconds(86_400), logBound: Int? = nil
    ) throws {
        let file = SQLiteFile(path: path, busyTimeout: busyTimeout)
        try file.create()
        writer = SQLiteWriter(
            try file.openWriter(), clock: clock, optimizeInterval: optimizeInterval,
            logBound: logBound ?? SQLiteFile.logBound
        ) {
            try file.reopenWriter()
        }
        readers = SQLiteReaders(try (0..<4).map { _ in try file.openReader() }, clock: clock)
        stamps = .file(try SQLiteChangeStamps(of: file))
        watching = SQLiteReaders([try file.openReader()], clock: clock)
        cleaner = try file.openWriter()
    }

    /// Creates an empty store in memory, for tests. It ends with this instance. Reads and writes take turns on its one
    /// connection.
    ///
    /// - Parameter clock: the source of `Transaction.now`.
    /// - Throws: `StoreError.unavailable`.
    package init(inMemory clock: @escaping @Sendable () -> Date) throws {
        let connection = try SQLiteFile.memory.connect(readOnly: false) { _ in }
        writer = SQLiteWriter(connection, clock: clock)
        readers = SQLiteReaders([connection], clock: clock, mayWrite: true)
        stamps = .memory(connection)
        watching = SQLiteReaders([connection], clock: clock, mayWrite: true)
        cleaner = nil
    }
}

package extension SQLiteDatabase {
    func read<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await readers.read(body)
    }

    func readReserved<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await watching.read(body)
    }

    /// Runs a body in its own savepoint of a commit that it may share with others, and returns after that commit.
    ///
    /// - Throws: the body's error, or a `StoreError`: `unavailable` if another process writes for longer than
    ///   `busyTimeout`, `outcomeUnknown` if the disk failed during the commit.
    @discardableResult
    func write<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await write(on: .usual, body)
    }

    /// Runs a body like ``write(_:)``. Bodies of ``Lane/administration`` go before all others in the queue.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    @discardableResult
    func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            writer.submit(PendingWrite(body, continuation), on: lane)
        }
    }

    /// Runs a body like ``write(_:)``. Maintenance fills the log quickly, so the log is checkpointed after each body.
    /// Otherwise another caller's commit would have to copy all of it.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    @discardableResult
    func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        let value = try await write(body)
        // A later body copies the rest.
        _ = try? await cleaner?.copyLongLog()
        return value
    }

    /// SQLite's `data_version` on a connection that never writes, so commits of this process change it too.
    ///
    /// - Throws: `StoreError.unavailable`.
    func changeStamp() throws -> Int64 {
        switch stamps {
        case .file(let stamps): try stamps.read()
        case .memory(let connection): try connection.writeWithoutTransaction { try $0.setting("PRAGMA data_version") }
        }
    }

    /// Reads the schema, and checks that the path still names the opened file. A full disk does not affect reads: if
    /// the last write failed, a write without effect is tried.
    ///
    /// - Throws: `StoreError.unavailable`.
    func check() async throws {
        _ = try changeStamp()
        if writer.hasFailed {
            try await write { transaction in
                let version = try transaction.first("PRAGMA user_version")?.integer(0) ?? 0
                try transaction.execute("PRAGMA user_version = \(version)")
            }
        }
        _ = try await read { try $0.first("SELECT count(*) FROM sqlite_schema") }
    }

    /// Copies SQLite's write-ahead log into the file and truncates it. Most pages are copied concurrently, so writers
    /// wait only for the remainder.
    ///
    /// - Returns: `false` if readers still need the log.
    /// - Throws: `StoreError.unavailable`.
    @discardableResult
    func clearLog() async throws -> Bool {
        guard try await cleaner?.copyLog() ?? true else { return false }
        return try await writer.clearLog()
    }

    /// Finishes the queued reads and writes, then closes every connection.
    ///
    /// - Throws: `StoreError.unavailable` if SQLite cannot close a connection.
    func close() async throws {
        // Waiting for pending work here would block a thread of the shared pool.
        let (writer, readers, watching, stamps, cleaner) = (writer, readers, watching, stamps, cleaner)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        // The writer closes last, because it can then truncate the log.
                        try readers.close()
                        try watching.close()
                        if case .file(let stamps) = stamps { try stamps.close() }
                        try cleaner?.letGo()
                        try writer.close()
                    })
            }
        }
    }
}
