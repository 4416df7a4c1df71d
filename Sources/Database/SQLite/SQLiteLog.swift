import Foundation
import GRDB

extension DatabaseQueue {
    /// The most pages (4 KiB each) to leave for the truncation, while writers wait.
    private static let mostLeft: Int64 = 1024

    /// A log of this many bytes is long.
    private static let longLog = 4 << 20

    /// Checkpoints a long log as far as possible.
    ///
    /// - Throws: `StoreError.unavailable`.
    func copyLongLog() async throws {
        guard SQLiteFile.logSize(of: path) > Self.longLog else { return }
        _ = try await copyLog()
    }

    /// Copies the log into the file while others read and write, until little is left or nothing more can be copied.
    ///
    /// - Returns: whether little is left. Readers may need the rest.
    /// - Throws: `StoreError.unavailable`.
    func copyLog() async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            asyncWriteWithoutTransaction { connection in
                continuation.resume(
                    with: Result {
                        try SQLiteFile.requireUnmoved(connection.sqliteConnection)
                        // Each round has fewer new pages to copy.
                        for _ in 0..<4 {
                            if try connection.copyLog() <= Self.mostLeft { return true }
                        }
                        return false
                    })
            }
        }
    }
}

extension SQLiteFile {
    /// The maximum size of the log in bytes, except for writes while readers use it. It is twice SQLite's own
    /// checkpoint size.
    static let logBound = 64 << 20

    /// The size of a store's log; 0 if there is none.
    static func logSize(of path: String) -> Int {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? status.st_size : 0
    }
}

extension GRDB.Database {
    /// The longest that writers wait for readers of the log, in milliseconds.
    private static let logPatience: Int64 = 50

    /// Copies the log into the file and truncates it; `false` if a reader still uses it. Readers that start after the
    /// copy read only the file, so only earlier readers are waited for.
    func emptyLog() throws -> Bool {
        let patience = try setting("PRAGMA busy_timeout")
        try perform("PRAGMA busy_timeout = \(min(patience, Self.logPatience))")
        defer { try? perform("PRAGMA busy_timeout = \(patience)") }
        return try setting("PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }

    /// Copies what no reader needs, and returns the number of remaining pages.
    fileprivate func copyLog() throws -> Int64 {
        let statement = try SQLiteStatementHandle("PRAGMA wal_checkpoint(PASSIVE)", on: self)
        defer { statement.reset() }
        guard try statement.step() else { throw StoreError.statement(reason: "a checkpoint returned nothing") }
        let row = statement.row()
        return try row.integer(1) - row.integer(2)
    }
}
