import Foundation

/// The one conversation with the store that a `read` or `write` body holds; it ends with the body.
///
/// The first statement that fails ends the conversation, on every engine: later statements throw the same error, and
/// so does the `read` or `write` even where the body swallows it. A conflict that is expected is therefore written as
/// `ON CONFLICT DO NOTHING` and seen in the number of changed rows. The statements that control a transaction
/// (`BEGIN`, `COMMIT`, `SAVEPOINT`, …) belong to the store, not to a body.
package protocol Transaction {
    /// The store's clock in whole milliseconds: what expiry is judged by, one instant throughout a body.
    var now: Date { get }

    /// Whose statements it takes, where a migration has some for each.
    var engine: Engine { get }

    /// The timeline of the server that is asked: one that takes over has another, and may lack what the one before had
    /// committed. Empty where there is no server.
    ///
    /// - Throws: `StoreError`.
    func timeline() throws -> String

    /// All rows of a statement, in its order.
    ///
    /// - Parameters:
    ///   - sql: one statement in the shared subset; text made at run time from input is never part of it.
    ///   - arguments: the value of `$1` first; as many as the highest parameter.
    /// - Throws: `StoreError`.
    func query(_ sql: String, _ arguments: [Value]) throws -> [Row]

    /// The first row of a statement, or nil where there is none. A changing statement is always carried out whole.
    ///
    /// - Throws: `StoreError`.
    func first(_ sql: String, _ arguments: [Value]) throws -> Row?

    /// Asks everything together that a body is about to ask one by one: an engine that lies across a network waits once
    /// for all of it. The answers are kept until the transaction writes something.
    ///
    /// - Parameter body: asks as usual, in any number of statements, and finds no rows. It writes nothing, and decides
    ///   nothing: it may be left out. Before the first statement it has no time either.
    /// - Throws: `StoreError`; what the body throws.
    func ahead(_ body: (any Transaction) throws -> Void) throws

    /// Carries a statement out.
    ///
    /// - Returns: how many rows it inserted, updated or deleted itself.
    /// - Throws: `StoreError`.
    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int

    /// Carries a statement out before the next one or before the commit, whichever comes first; how many rows it
    /// changed is not known. An engine that lies across a network saves a wait with it. A mistake fails the body all
    /// the same.
    ///
    /// - Throws: `StoreError`, here or later.
    func enqueue(_ sql: String, _ arguments: [Value]) throws

    /// Makes the tables of the change log, which differ by engine: for a migration.
    ///
    /// - Throws: `StoreError`.
    func createChangeLog() throws

    /// Deletes all entries of the change log, however many there are.
    ///
    /// - Throws: `StoreError`.
    func emptyChangeLog() throws

    /// Writes an entry of the change log, which its readers see after the commit.
    ///
    /// - Parameter kind: from 0 to 32,767.
    /// - Throws: `StoreError`, here or later.
    func appendChange(kind: Int, key: [UInt8]) throws
}

extension Transaction {
    package var engine: Engine { .sqlite }

    /// A file has one.
    package func timeline() throws -> String { "" }

    /// Stands behind a `SELECT` of rows that the transaction is about to change: others who want them wait for its end,
    /// and it finds them as they are then. On an engine with one writer nobody else is there.
    package var lockingRows: String { engine == .postgreSQL ? " FOR NO KEY UPDATE" : "" }

    /// The same for a statement that takes some rows of many: it passes over those that others have.
    package var lockingFreeRows: String { engine == .postgreSQL ? " FOR NO KEY UPDATE SKIP LOCKED" : "" }

    /// Waits for nobody with the first statement, so that nothing is gained.
    package func ahead(_ body: (any Transaction) throws -> Void) throws {}

    /// What a body asks, asked together: see ``ahead(_:)``. One question of it must not hang on the answer to another.
    package func together<T>(_ body: (any Transaction) throws -> T) throws -> T {
        try ahead { _ = try body($0) }
        return try body(self)
    }

    /// A store without a change log.
    package func createChangeLog() throws { throw StoreError.noChangeLog }

    package func emptyChangeLog() throws { try execute("DELETE FROM change_log") }

    /// A store without a change log.
    package func appendChange(kind: Int, key: [UInt8]) throws { throw StoreError.noChangeLog }

    /// At once, where waiting saves nothing.
    package func enqueue(_ sql: String, _ arguments: [Value]) throws {
        try execute(sql, arguments)
    }

    /// All rows of a statement without parameters.
    package func query(_ sql: String) throws -> [Row] { try query(sql, []) }

    /// The first row of a statement without parameters.
    package func first(_ sql: String) throws -> Row? {
        try first(sql, [])
    }

    /// Carries a statement out once for each row of arguments.
    ///
    /// - Throws: `StoreError`.
    package func execute(_ sql: String, rows: [[Value]]) throws {
        for arguments in rows { try enqueue(sql, arguments) }
    }

    /// Carries a statement without parameters out and returns the number of changed rows.
    @discardableResult package func execute(_ sql: String) throws -> Int {
        try execute(sql, [])
    }
}
