import Foundation

/// A conversation over one PostgreSQL connection, between `BEGIN` and `COMMIT`.
final class PostgreSQLTransaction: Transaction {
    let now: Date
    private let connection: PostgreSQLConnection
    private let kind: Kind
    /// Why a statement failed: it ends the transaction on the server too.
    private(set) var failure: PostgreSQLFailure?

    /// What a transaction is for.
    enum Kind {
        case read
        case write
        /// A change of the schema, which takes as long as it takes.
        case alter

        /// Writers that decide from what they read must not pass one another, as on an engine with one writer. One
        /// snapshot is enough for those who only read, and nothing takes a reader back.
        var begin: String {
            switch self {
            case .read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case .write: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
            case .alter:
                """
                BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE;
                SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0
                """
            }
        }
    }

    /// Begins a transaction; the clock is the server's where none is given.
    init(_ connection: PostgreSQLConnection, _ kind: Kind, clock: (@Sendable () -> Date)?) throws(PostgreSQLFailure) {
        connection.isPatient = kind == .alter
        // The same exchange begins the transaction and asks for the time: microseconds since 1970.
        let answer = try connection.command(
            "\(kind.begin); SELECT CAST(extract(epoch FROM now()) * 1000000 AS BIGINT)")
        guard let microseconds = answer.firstText.flatMap({ Int64($0) }) else { throw .disconnected }
        now = clock?() ?? Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
        self.connection = connection
        self.kind = kind
    }

    /// Makes what was written durable.
    func commit() throws(PostgreSQLFailure) {
        let command: String
        do {
            command = try connection.command("COMMIT").command
        } catch {
            guard case .lost = error, kind != .read else { throw error }
            throw .outcomeUnknown(
                .unavailable(reason: "the connection was lost during the commit, whose outcome is not known"))
        }
        guard command == "COMMIT" else { throw .refused(.unavailable(reason: "the server took the commit back")) }
    }

    /// Takes back what was written.
    func rollBack() throws(PostgreSQLFailure) {
        _ = try connection.command("ROLLBACK")
    }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        let result = try perform(sql, arguments)
        var rows: [Row] = []
        rows.reserveCapacity(result.count)
        for index in 0..<result.count {
            rows.append(try row(index, of: result))
        }
        return rows
    }

    func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
        let result = try perform(sql, arguments)
        return result.count > 0 ? try row(0, of: result) : nil
    }

    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        try perform(sql, arguments).changedRows
    }

    private func perform(_ sql: String, _ arguments: [Value]) throws(StoreError) -> PostgreSQLResult {
        if let failure { throw failure.error }
        do {
            return try connection.execute(sql, arguments, isWriting: kind != .read)
        } catch {
            failure = error
            throw error.error
        }
    }

    private func row(_ index: Int, of result: borrowing PostgreSQLResult) throws(StoreError) -> Row {
        do {
            return try result.row(index)
        } catch {
            failure = .refused(error)
            throw error
        }
    }
}
