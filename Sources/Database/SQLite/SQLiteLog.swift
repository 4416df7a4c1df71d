import Foundation
import GRDB

extension DatabaseQueue {
    /// How many pages of the log are left to whoever truncates it while others wait; four KiB each.
    private static let mostLeft: Int64 = 1024

    /// A log of so many bytes is long.
    private static let longLog = 4 << 20

    /// Copies what can be copied of a log that has grown long.
    ///
    /// - Throws: `StoreError.unavailable`.
    func copyLongLog() async throws {
        guard SQLiteFile.logSize(of: path) > Self.longLog else { return }
        _ = try await copyLog()
    }

    /// Copies the log into the file while others read and write: until little of it is left, or nothing more can be copied.
    ///
    /// - Returns: whether little is left. Readers may need the rest.
    /// - Throws: `StoreError.unavailable`.
    func copyLog() async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            asyncWriteWithoutTransaction { connection in
                continuation.resume(
                    with: Result {
                        try SQLiteFile.requireUnmoved(connection.sqliteConnection)
                        // What is written meanwhile is less each time.
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
    /// The largest size of the log, in bytes, but for what is written while readers hold it: twice what SQLite leaves
    /// in it.
    static let logBound = 64 << 20

    /// How large the log of a store is; 0 where there is none.
    static func logSize(of path: String) -> Int {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? status.st_size : 0
    }
}

extension GRDB.Database {
    /// The longest that writers wait while readers hold the log, in milliseconds.
    private static let logPatience: Int64 = 50

    /// Copies the log into the file and truncates it; `false` where somebody still reads from it. Those who come behind
    /// the copy read from the file alone, so that only those of before are waited for.
    func emptyLog() throws -> Bool {
        let patience = try setting("PRAGMA busy_timeout")
        try perform("PRAGMA busy_timeout = \(min(patience, Self.logPatience))")
        defer { try? perform("PRAGMA busy_timeout = \(patience)") }
        return try setting("PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }

    /// Copies what no reader needs; how many pages are left.
    fileprivate func copyLog() throws -> Int64 {
        let statement = try SQLiteStatementHandle("PRAGMA wal_checkpoint(PASSIVE)", on: self)
        defer { statement.reset() }
        guard try statement.step() else { throw StoreError.statement(reason: "a checkpoint has no answer") }
        let row = statement.row()
        return try row.integer(1) - row.integer(2)
    }
}
