import GRDB
import GRDBSQLite
import Synchronization

/// SQLite's `data_version`, on a connection of its own, so a caller such as an event loop never waits for a reader. Its
/// numbers are only comparable with each other.
final class SQLiteChangeStamps: Sendable {
    private struct Connection {
        let queue: DatabaseQueue
        let pointer: OpaquePointer
        let statement: OpaquePointer
    }

    /// `nil` after closing. The lock admits one thread at a time.
    private let connection: Mutex<Connection?>

    init(of file: SQLiteFile) throws {
        let queue = try file.openReader()
        let (pointer, statement) = try queue.writeWithoutTransaction { database in
            guard let pointer = database.sqliteConnection else { throw StoreError.closed }
            var statement: OpaquePointer?
            let code = sqlite3_prepare_v3(
                pointer, "PRAGMA data_version", -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            guard let statement else { throw StoreError(sqlite: code, detail: nil) }
            return (UInt(bitPattern: pointer), UInt(bitPattern: statement))
        }
        guard let pointer = OpaquePointer(bitPattern: pointer), let statement = OpaquePointer(bitPattern: statement)
        else { throw StoreError.closed }
        connection = Mutex(Connection(queue: queue, pointer: pointer, statement: statement))
    }

    /// A number that differs after each commit of this or another process.
    ///
    /// - Throws: `StoreError.unavailable`, also if the file was moved.
    func read() throws(StoreError) -> Int64 {
        try connection.withLock { connection throws(StoreError) in
            guard let connection else { throw StoreError.closed }
            try SQLiteFile.requireUnmoved(connection.pointer)
            defer { sqlite3_reset(connection.statement) }
            let code = sqlite3_step(connection.statement)
            guard code == SQLITE_ROW else { throw StoreError(sqlite: code, detail: nil) }
            return sqlite3_column_int64(connection.statement, 0)
        }
    }

    func close() throws(StoreError) {
        try connection.withLock { connection throws(StoreError) in
            guard let open = connection else { return }
            connection = nil
            sqlite3_finalize(open.statement)
            try open.queue.letGo()
        }
    }
}
