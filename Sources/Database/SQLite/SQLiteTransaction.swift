import Foundation
import GRDB
import GRDBSQLite

/// A conversation over one SQLite connection. Statements are kept by GRDB, prepared once a connection; binding and
/// stepping go straight to SQLite, which is several times cheaper than through rows of GRDB (Upstream.md).
final class SQLiteTransaction: Transaction {
    let now: Date
    private let connection: GRDB.Database
    /// Whether it refuses what would change something, on a connection that could. `PRAGMA query_only` would do the same,
    /// but it takes effect when it is prepared, makes SQLite prepare all other statements anew, and stays if it is not taken
    /// back: every later write would fail.
    private let requiresReading: Bool
    private var failure: StoreError?

    init(_ connection: GRDB.Database, now: Date, requiresReading: Bool = false) {
        self.connection = connection
        self.now = now.inMilliseconds
        self.requiresReading = requiresReading
    }

    /// Runs a whole body. A failed statement fails the body even where it swallowed the error, as on every engine.
    func run<T>(_ body: (any Transaction) throws -> T) throws -> T {
        let value = try body(self)
        if let failure { throw failure }
        return value
    }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        var rows: [Row] = []
        try perform(sql, arguments) { statement throws(StoreError) in
            while try statement.step() {
                rows.append(statement.row())
            }
        }
        return rows
    }

    func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
        var row: Row?
        try perform(sql, arguments) { statement throws(StoreError) in
            guard try statement.step() else { return }
            row = statement.row()
            // A statement that changes something is only over when it has been stepped to its end.
            if !statement.isReadOnly {
                while try statement.step() {}
            }
        }
        return row
    }

    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        let before = sqlite3_total_changes64(connection.sqliteConnection)
        try perform(sql, arguments) { statement throws(StoreError) in
            while try statement.step() {}
        }
        // The count of the last statement stays where a statement (such as CREATE TABLE) does not count at all.
        let changed = sqlite3_total_changes64(connection.sqliteConnection) != before
        return changed ? Int(sqlite3_changes64(connection.sqliteConnection)) : 0
    }

    private func perform(
        _ sql: String, _ arguments: [Value], _ body: (SQLiteStatementHandle) throws(StoreError) -> Void
    ) throws {
        if let failure { throw failure }
        do throws(StoreError) {
            let statement = try SQLiteStatementHandle(sql, on: connection)
            defer { statement.reset() }
            if requiresReading, !statement.isReadOnly { throw StoreError(sqlite: SQLITE_READONLY, detail: nil) }
            try statement.bind(arguments)
            try body(statement)
        } catch {
            failure = error
            throw error
        }
    }
}

extension GRDB.Database {
    /// Runs a statement of the store's own, such as `COMMIT`.
    func perform(_ sql: String) throws(StoreError) {
        let statement = try SQLiteStatementHandle(sql, on: self)
        defer { statement.reset() }
        while try statement.step() {}
    }

    /// True between the statements that begin and end a transaction; some failures of SQLite end it by themselves.
    var hasOpenTransaction: Bool {
        sqliteConnection.map { sqlite3_get_autocommit($0) == 0 } ?? false
    }
}
