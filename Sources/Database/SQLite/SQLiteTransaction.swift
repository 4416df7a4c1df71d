import Foundation
import GRDB
import GRDBSQLite

/// A transaction on one SQLite connection. GRDB caches prepared statements for each connection. Binding and stepping
/// use SQLite directly, which is several times cheaper than GRDB's rows (Upstream.md).
final class SQLiteTransaction: Transaction {
    let now: Date
    private let connection: GRDB.Database
    /// Whether it refuses writes on a writable connection. `PRAGMA query_only` would do so too. But it takes effect
    /// when it is prepared, forces SQLite to prepare all other statements again, and would fail every later write if it
    /// were not reset.
    private let requiresReading: Bool
    private var failure: StoreError?

    init(_ connection: GRDB.Database, now: Date, requiresReading: Bool = false) {
        self.connection = connection
        self.now = now.inMilliseconds
        self.requiresReading = requiresReading
    }

    /// Runs a whole body. A failed statement fails the body even if the body ignores the error, as on every engine.
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
            // A statement with changes is complete only after it was stepped to its end.
            if !statement.isReadOnly {
                while try statement.step() {}
            }
        }
        return row
    }

    func queries(_ questions: [(sql: String, arguments: [Value])]) throws -> [[Row]] {
        try JoinedStatement.answer(
            questions, alone: { try query($0.sql, $0.arguments) },
            together: { some in
                let widths = try some.map { try width(of: $0.sql) }
                let joined = JoinedStatement(some, widths: widths)
                return try JoinedStatement.split(try query(joined.sql, joined.arguments), widths: widths)
            })
    }

    /// The number of columns of a statement.
    private func width(of sql: String) throws -> Int {
        if let failure { throw failure }
        do throws(StoreError) {
            return try SQLiteStatementHandle(sql, on: connection).width
        } catch {
            failure = error
            throw error
        }
    }

    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        let before = sqlite3_total_changes64(connection.sqliteConnection)
        try perform(sql, arguments) { statement throws(StoreError) in
            while try statement.step() {}
        }
        // A statement without a count, such as CREATE TABLE, leaves the count of the previous one.
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
    /// Runs a statement of the store itself, such as `COMMIT`.
    func perform(_ sql: String) throws(StoreError) {
        let statement = try SQLiteStatementHandle(sql, on: self)
        defer { statement.reset() }
        while try statement.step() {}
    }

    /// `true` between the statements that begin and end a transaction. Some failures of SQLite end a transaction by
    /// themselves.
    var hasOpenTransaction: Bool {
        sqliteConnection.map { sqlite3_get_autocommit($0) == 0 } ?? false
    }
}
