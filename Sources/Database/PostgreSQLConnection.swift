import CPostgreSQL
import Foundation

/// One connection to a PostgreSQL server, used by the thread that made it alone.
///
/// Answers are waited for with a bound of our own, since a server that hangs keeps its connections open.
final class PostgreSQLConnection {
    /// How many statements are kept prepared: more are a sign of SQL made at run time.
    private static let maximumStatements = 512

    /// A statement under the types of its arguments, by which the server plans it.
    private struct Shape: Hashable {
        let sql: String
        let types: [UInt32]
    }

    private let pointer: OpaquePointer
    private let patience: TimeInterval
    private var prepared: [Shape: String] = [:]
    private var parameters: [String: Int] = [:]
    /// Whether answers may take as long as they take.
    var isPatient = false

    /// Connects, to the first of the hosts that takes writes.
    init(_ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts) throws(PostgreSQLFailure) {
        // What stands before the address may be overruled by it, what stands behind it may not.
        let settings: [(String, String)] = [
            ("connect_timeout", "\(Int(timeouts.connect.rounded(.up)))"), ("application_name", "countersign"),
            ("target_session_attrs", "read-write"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "\(Int(timeouts.statement * 1000))"),
            ("dbname", address.reveal()), ("client_encoding", "UTF8"),
        ]
        let keywords = settings.map { strdup($0.0) }
        let values = settings.map { strdup($0.1) }
        defer { for text in keywords + values { free(text) } }
        let connection = PQconnectdbParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
        guard let connection else { throw .refused(.unavailable(reason: "there is no memory for a connection")) }
        guard PQstatus(connection) == CONNECTION_OK else {
            let reason = String(cString: PQerrorMessage(connection)).trimmingCharacters(in: .whitespacesAndNewlines)
            PQfinish(connection)
            throw .refused(.unavailable(reason: reason))
        }
        pointer = connection
        patience = timeouts.statement + 5
        // A warning of the server is nobody's to read: it would go to standard error.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        _ = try command(
            """
            SET statement_timeout = \(Int(timeouts.statement * 1000));
            SET lock_timeout = \(Int(timeouts.lock * 1000));
            SET idle_in_transaction_session_timeout = \(Int(timeouts.statement * 3000))
            """)
    }

    deinit {
        PQfinish(pointer)
    }

    /// Runs statements of the store's own, and gives the answer to the last, in text.
    func command(_ sql: String) throws(PostgreSQLFailure) -> PostgreSQLResult {
        guard PQsendQuery(pointer, sql) == 1 else { throw .disconnected }
        let result = try receive()
        guard result.isSuccess else { throw PostgreSQLFailure(result) }
        return result
    }

    /// Runs one statement, prepared at its first use, and gives its answer in binary.
    func execute(
        _ sql: String, _ values: [Value], isWriting: Bool
    ) throws(PostgreSQLFailure) -> PostgreSQLResult {
        let arguments: PostgreSQLArguments
        do {
            arguments = try PostgreSQLArguments(values)
        } catch {
            throw .refused(error)
        }
        let count = highestParameter(sql)
        guard count == values.count else {
            throw .refused(.statement(reason: "it takes \(count) arguments and was given \(values.count)"))
        }
        let name = try prepare(sql, arguments.types)
        let isSent = arguments.withPointers { pointers in
            PQsendQueryPrepared(
                pointer, name, Int32(values.count), pointers, arguments.lengths, arguments.formats, 1)
        }
        guard isSent == 1 else { throw .disconnected }
        let result = try receive()
        guard !result.isEmptyStatement else { throw .refused(.statement(reason: "it is empty")) }
        if isWriting, PostgreSQLFailure.isReadOnly(result) {
            throw .lost(.unavailable(reason: "the server has become a standby"))
        }
        guard result.isSuccess else { throw PostgreSQLFailure(result) }
        return result
    }

    private func highestParameter(_ sql: String) -> Int {
        if let known = parameters[sql] { return known }
        let count = ParameterCount.highest(in: sql)
        parameters[sql] = count
        return count
    }

    private func prepare(_ sql: String, _ types: [UInt32]) throws(PostgreSQLFailure) -> String {
        let shape = Shape(sql: sql, types: types)
        if let name = prepared[shape] { return name }
        if prepared.count >= Self.maximumStatements {
            _ = try command("DEALLOCATE ALL")
            prepared.removeAll()
            parameters.removeAll()
        }
        let name = "s\(prepared.count)"
        guard PQsendPrepare(pointer, name, sql, Int32(types.count), types) == 1 else { throw .disconnected }
        let result = try receive()
        guard result.isSuccess else { throw PostgreSQLFailure(result) }
        prepared[shape] = name
        return name
    }

    /// The answer to what was sent: of several statements the last one's, or the first failure.
    private func receive() throws(PostgreSQLFailure) -> PostgreSQLResult {
        let deadline = ContinuousClock.now + .seconds(patience)
        var last: OpaquePointer?
        while true {
            while PQisBusy(pointer) == 1 {
                guard wait(until: deadline), PQconsumeInput(pointer) == 1 else {
                    PQclear(last)
                    throw .disconnected
                }
            }
            guard let next = PQgetResult(pointer) else { break }
            PQclear(last)
            last = next
        }
        guard let last else { throw .disconnected }
        return PostgreSQLResult(last)
    }

    /// Waits for bytes; `false` where none came in time.
    private func wait(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            var descriptor = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard isPatient || left > 0 else { return false }
            let ready = poll(&descriptor, 1, isPatient ? 60_000 : Int32(left.rounded(.up)))
            if ready > 0 { return true }
            if ready < 0, errno != EINTR { return false }
        }
    }
}
