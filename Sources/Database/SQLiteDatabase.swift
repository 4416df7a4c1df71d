import Foundation
import GRDB

/// The embedded store: one SQLite file, one connection that writes, some that read, and one that watches for commits
/// of other processes.
public final class SQLiteDatabase: Database {
    private let writer: SQLiteWriter
    private let readers: SQLiteReaders
    private let watcher: DatabaseQueue

    /// Opens the file, and makes it (mode 0600) where there is none.
    ///
    /// - Parameters:
    ///   - path: the file; a relative path counts from the working directory.
    ///   - clock: what `Transaction.now` is taken from.
    /// - Throws: `StoreError.unavailable`.
    public init(path: String, clock: @escaping @Sendable () -> Date) throws {
        let file = SQLiteFile(path: path)
        try file.create()
        writer = SQLiteWriter(try file.openWriter(), clock: clock)
        readers = SQLiteReaders(try (0..<4).map { _ in try file.openReader() }, clock: clock)
        watcher = try file.openReader()
    }

    public func read<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await readers.read(body)
    }

    @discardableResult
    public func write<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            writer.submit(PendingWrite(body, continuation))
        }
    }

    /// SQLite's `data_version` as a connection that never writes sees it: commits of this process move it too.
    public func changeStamp() throws -> Int64 {
        try watcher.writeWithoutTransaction { connection in
            try connection.requireUnmoved()
            return try connection.setting("PRAGMA data_version")
        }
    }

    public func check() async throws {
        _ = try changeStamp()
        _ = try await read { try $0.first("SELECT count(*) FROM sqlite_schema") }
    }

    public func close() async throws {
        // Waiting for what is under way would block a thread that tasks share.
        let (writer, readers, watcher) = (writer, readers, watcher)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        // The writer last: it is the one that can clear the log away.
                        try readers.close()
                        try watcher.close()
                        try writer.close()
                    })
            }
        }
    }

    /// How many writes wait for a commit that has not begun.
    var waitingWrites: Int { writer.waiting }

    /// How many commits this instance has made.
    var commits: Int { writer.commits }
}
