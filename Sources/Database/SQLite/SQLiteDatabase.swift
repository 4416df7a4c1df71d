import Foundation
import GRDB

/// The embedded store: one SQLite file, one connection that writes, some that read, and one that watches for commits
/// of other processes and reads what they changed.
package final class SQLiteDatabase: Database {
    let writer: SQLiteWriter
    private let readers: SQLiteReaders
    private let stamps: Stamps
    private let watching: SQLiteReaders
    /// Copies the log beside the writer; `nil` where there is none.
    private let cleaner: DatabaseQueue?

    private enum Stamps {
        case file(SQLiteChangeStamps)
        /// The one connection of a store in memory: nobody else commits there.
        case memory(DatabaseQueue)
    }

    /// Opens the file, and makes it (mode 0600) where there is none.
    ///
    /// - Parameters:
    ///   - path: the file; a relative path counts from the working directory.
    ///   - clock: what `Transaction.now` is taken from.
    ///   - busyTimeout: how many seconds a write waits for another process's write.
    ///   - optimizeInterval: how often the statistics by which SQLite chooses indexes are looked after, beside at the end.
    ///   - logBound: how many bytes the write-ahead log may have before it is emptied amid the work.
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

    /// Makes an empty store in memory, for tests and trials: it ends with this instance, no other reaches it, and reads
    /// and writes take turns on its one connection.
    ///
    /// - Parameter clock: what `Transaction.now` is taken from.
    /// - Throws: `StoreError.unavailable`.
    package init(inMemory clock: @escaping @Sendable () -> Date) throws {
        let connection = try SQLiteFile.memory.connect(readOnly: false) { _ in }
        writer = SQLiteWriter(connection, clock: clock)
        readers = SQLiteReaders([connection], clock: clock, mayWrite: true)
        stamps = .memory(connection)
        watching = SQLiteReaders([connection], clock: clock, mayWrite: true)
        cleaner = nil
    }

    /// Runs a body on a connection that cannot write, over one snapshot.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    package func read<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await readers.read(body)
    }

    /// Runs a body like ``read(_:)`` on the connection that watches.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    package func readReserved<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await watching.read(body)
    }

    /// Runs a body in its own savepoint of a commit that it may share with others, and returns after that commit.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`; `unavailable` after `busyTimeout` behind another process,
    ///   `outcomeUnknown` where the disk failed during the commit.
    @discardableResult
    package func write<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await write(on: .usual, body)
    }

    /// Runs a body like ``write(_:)``; those of ``Lane/administration`` are put before all others that wait.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    @discardableResult
    package func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            writer.submit(PendingWrite(body, continuation), on: lane)
        }
    }

    /// Runs a body like ``write(_:)``. Maintenance fills the log quickly; it is copied behind each body, so that no commit of
    /// somebody else comes to copy all of it.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    @discardableResult
    package func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        let value = try await write(body)
        // What cannot be copied now is copied behind a later one.
        _ = try? await cleaner?.copyLongLog()
        return value
    }

    /// SQLite's `data_version` as a connection that never writes sees it: commits of this process move it too.
    ///
    /// - Throws: `StoreError.unavailable`.
    package func changeStamp() throws -> Int64 {
        switch stamps {
        case .file(let stamps): try stamps.read()
        case .memory(let connection): try connection.writeWithoutTransaction { try $0.setting("PRAGMA data_version") }
        }
    }

    /// Reads the schema, and makes sure that the file is still the one that was opened. From a disk that is full one
    /// reads as ever: if the last write failed, another one is tried, which changes nothing.
    ///
    /// - Throws: `StoreError.unavailable`.
    package func check() async throws {
        _ = try changeStamp()
        if writer.hasFailed {
            try await write { transaction in
                let version = try transaction.first("PRAGMA user_version")?.integer(0) ?? 0
                try transaction.execute("PRAGMA user_version = \(version)")
            }
        }
        _ = try await read { try $0.first("SELECT count(*) FROM sqlite_schema") }
    }

    /// Copies SQLite's write-ahead log into the file and truncates it. Most of it is copied beside those who write, who
    /// wait for the rest of it alone.
    ///
    /// - Returns: `false` if readers still need the log.
    /// - Throws: `StoreError.unavailable`.
    @discardableResult
    package func clearLog() async throws -> Bool {
        guard try await cleaner?.copyLog() ?? true else { return false }
        return try await writer.clearLog()
    }

    /// Finishes the reads and writes in line, then closes every connection.
    ///
    /// - Throws: `StoreError.unavailable` where SQLite does not let go.
    package func close() async throws {
        // Waiting for what is under way would block a thread that tasks share.
        let (writer, readers, watching, stamps, cleaner) = (writer, readers, watching, stamps, cleaner)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        // The writer last: it is the one that can clear the log away.
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
