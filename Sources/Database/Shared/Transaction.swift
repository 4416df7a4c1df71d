import Foundation

/// The transaction of one `read` or `write` body.
///
/// The first statement that fails ends the transaction, on every engine: later statements throw its error, and so does
/// the `read` or `write` even if the body ignores it. An expected conflict is therefore written as `ON CONFLICT DO
/// NOTHING` and detected by the number of changed rows. The statements that control a transaction (`BEGIN`, `COMMIT`,
/// `SAVEPOINT`, …) belong to the store, not to a body.
package protocol Transaction {
    /// The store's clock in whole milliseconds, by which expiry is decided. It does not change during a body.
    var now: Date { get }

    /// The engine, for migrations with different statements for each.
    var engine: Engine { get }

    /// The server's timeline. A promoted standby has a different one, and may lack commits of the previous primary.
    /// Empty for a file.
    ///
    /// - Throws: `StoreError`.
    func timeline() throws -> String

    /// All rows of a statement, in its order.
    ///
    /// - Parameters:
    ///   - sql: one statement in the common subset. It never contains input.
    ///   - arguments: the values of `$1` and so on, as many as the highest parameter.
    /// - Throws: `StoreError`.
    func query(_ sql: String, _ arguments: [Value]) throws -> [Row]

    /// The first row of a statement; `nil` if there is none. A statement with changes is always executed completely.
    ///
    /// - Throws: `StoreError`.
    func first(_ sql: String, _ arguments: [Value]) throws -> Row?

    /// The rows of some queries of which none depends on another, in one statement for up to 24 of them. None may lock rows.
    ///
    /// - Throws: `StoreError`.
    func queries(_ questions: [(sql: String, arguments: [Value])]) throws -> [[Row]]

    /// Sends the queries together that a body is about to send one by one, so that a node waits for the network only
    /// once. The results are kept until the transaction writes.
    ///
    /// - Parameter body: sends its queries as usual and gets no rows. It must not write or decide anything, because it
    ///   may be skipped. Before the first statement it has no time either.
    /// - Throws: `StoreError`; the body's error.
    func ahead(_ body: (any Transaction) throws -> Void) throws

    /// Executes a statement.
    ///
    /// - Returns: the number of rows that it inserted, updated or deleted itself.
    /// - Throws: `StoreError`.
    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int

    /// Executes a statement before the next one or before the commit, whichever comes first. The number of changed rows
    /// is not known. It saves a wait for the network. An error fails the body as usual.
    ///
    /// - Throws: `StoreError`, here or later.
    func enqueue(_ sql: String, _ arguments: [Value]) throws

    /// Runs some writes, unless others with the same key were already made in this transaction. Bodies that share a
    /// transaction thus write common rows once.
    ///
    /// - Parameters:
    ///   - key: what the writes depend on, except the time.
    ///   - writes: their repetition must change nothing that other transactions see.
    /// - Throws: the error of the writes.
    func once(_ key: [Value], _ writes: () throws -> Void) throws

    /// Creates the tables of the change log, which differ by engine. Used by a migration.
    ///
    /// - Throws: `StoreError`.
    func createChangeLog() throws

    /// Deletes all entries of the change log.
    ///
    /// - Throws: `StoreError`.
    func emptyChangeLog() throws

    /// Appends an entry to the change log, which its readers see after the commit.
    ///
    /// - Parameter kind: from 0 to 32,767.
    /// - Throws: `StoreError`, here or later.
    func appendChange(kind: Int, key: [UInt8]) throws
}

package extension Transaction {
    var engine: Engine { .sqlite }

    /// A file has only one timeline.
    func timeline() throws -> String { "" }

    /// Follows a `SELECT` of rows that the transaction is about to change. Others wait for its end, and it sees the
    /// latest committed rows. It is not needed on an engine with one writer.
    var lockingRows: String { engine == .postgreSQL ? " FOR NO KEY UPDATE" : "" }

    /// For a statement that selects any rows of many: it skips rows that are locked by others.
    var lockingFreeRows: String { engine == .postgreSQL ? " FOR NO KEY UPDATE SKIP LOCKED" : "" }

    /// Sends them one by one.
    func queries(_ questions: [(sql: String, arguments: [Value])]) throws -> [[Row]] {
        try questions.map { try query($0.sql, $0.arguments) }
    }

    /// Does nothing, because there is no network to wait for.
    func ahead(_ body: (any Transaction) throws -> Void) throws {}

    /// Sends a body's queries together: see ``ahead(_:)``. No query may depend on the result of another.
    func together<T>(_ body: (any Transaction) throws -> T) throws -> T {
        try ahead { _ = try body($0) }
        return try body(self)
    }

    func createChangeLog() throws { throw StoreError.noChangeLog }

    func emptyChangeLog() throws { try execute("DELETE FROM change_log") }

    func appendChange(kind: Int, key: [UInt8]) throws { throw StoreError.noChangeLog }

    /// Executes it at once, because there is no network.
    func enqueue(_ sql: String, _ arguments: [Value]) throws {
        try execute(sql, arguments)
    }

    /// Runs them each time, because writes to a file are cheap.
    func once(_ key: [Value], _ writes: () throws -> Void) throws { try writes() }

    func query(_ sql: String) throws -> [Row] { try query(sql, []) }

    func first(_ sql: String) throws -> Row? {
        try first(sql, [])
    }

    /// Executes a statement once for each row of arguments.
    ///
    /// - Throws: `StoreError`.
    func execute(_ sql: String, rows: [[Value]]) throws {
        for arguments in rows { try enqueue(sql, arguments) }
    }

    @discardableResult func execute(_ sql: String) throws -> Int {
        try execute(sql, [])
    }
}
