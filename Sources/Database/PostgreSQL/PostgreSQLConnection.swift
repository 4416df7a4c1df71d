import CPostgreSQL
import Foundation

/// One connection to a PostgreSQL server, used only by the thread that created it.
///
/// Every wait has its own time limit, since a server that does not respond keeps its connections open.
final class PostgreSQLConnection {
    /// The maximum number of prepared statements. More of them indicate SQL that is generated at run time.
    private static let maximumStatements = 512

    /// A statement with the types of its arguments, which determine its plan.
    private struct Shape: Hashable {
        let sql: String
        let types: [UInt32]
    }

    /// Whether the server sent a warning (SQLSTATE class 01).
    private final class Warnings {
        var isAny = false
    }

    private let pointer: OpaquePointer
    /// Cancels this connection's statement on the server; `nil` if memory was insufficient.
    let canceller: PostgreSQLCanceller?
    private let patience: TimeInterval
    private let warnings = Warnings()
    private var prepared: [Shape: String] = [:]
    private var parameters: [String: Int] = [:]
    private var names = 0
    /// The prefix of prepared statements' names. If a pooler switches to another server session, the names are unknown
    /// there, so the switch is detected.
    private let prefix = "s\(UInt64.random(in: 0...UInt64.max))_"
    /// The number of exchanges with the server.
    private(set) var exchanges = 0
    /// Whether responses have no time limit.
    var isPatient = false
    /// Whether the server responds, and what to do while it does not.
    var reach: LaneReach?

    /// Connects to the first writable host.
    init(_ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts) throws(PostgreSQLFailure) {
        // The address may override settings before it, but not those after it.
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
        guard let connection else {
            throw .refused(.unavailable(reason: "there is not enough memory for a connection"))
        }
        guard PQstatus(connection) == CONNECTION_OK else {
            let reason = String(cString: PQerrorMessage(connection)).trimmingCharacters(in: .whitespacesAndNewlines)
            PQfinish(connection)
            throw .refused(.unavailable(reason: reason))
        }
        pointer = connection
        canceller = PostgreSQLCanceller(connection)
        patience = timeouts.statement + timeouts.grace
        // The text of notices is ignored. It would go to standard error.
        PQsetNoticeReceiver(
            connection,
            { warnings, notice in
                guard let warnings, let notice, let state = CPostgreSQL_state(notice),
                    String(cString: state).hasPrefix("01")
                else { return }
                Unmanaged<Warnings>.fromOpaque(warnings).takeUnretainedValue().isAny = true
            }, Unmanaged.passUnretained(warnings).toOpaque())
        try PostgreSQLEncoding.requireUTF8(of: connection)
        // Acknowledged commits are durable, whatever the account's defaults are. A statement has one generic plan,
        // because it finds rows by key and planning costs more than executing. It is not compiled, which takes seconds for
        // joined queries. A statement without a transaction takes its snapshot after it got its locks.
        _ = try command(
            """
            SET statement_timeout = \(Int(timeouts.statement * 1000));
            SET lock_timeout = \(Int(timeouts.lock * 1000));
            SET default_transaction_isolation = 'read committed';
            SET idle_in_transaction_session_timeout = \(Int(timeouts.statement * 3000));
            SELECT set_config('synchronous_commit', 'on', false)
                WHERE current_setting('synchronous_commit') IN ('off', 'local');
            SELECT set_config('plan_cache_mode', 'force_generic_plan', false)
                WHERE current_setting('plan_cache_mode', true) IS NOT NULL;
            SELECT set_config('jit', 'off', false) WHERE current_setting('jit', true) IS NOT NULL
            """)
    }

    deinit {
        PQfinish(pointer)
    }

    /// Whether the server has sent a warning since ``forgetWarnings()``.
    var hasWarned: Bool { warnings.isAny }

    func forgetWarnings() {
        warnings.isAny = false
    }

    /// Runs statements of the store itself, and returns the response to the last one as text.
    func command(_ sql: String) throws(PostgreSQLFailure) -> PostgreSQLResult {
        guard PQsendQuery(pointer, sql) == 1 else { throw .disconnected }
        let result = try receive()
        guard result.isSuccess else { throw PostgreSQLFailure(result) }
        return result
    }

    /// Sends statements together, so that the node waits for the network only once (PostgreSQL, 34.5: pipeline mode),
    /// and returns the response to the last one. After a failed statement the server executes no others.
    ///
    /// - Parameter inspect: receives each response with its position.
    func exchange(
        _ parts: [Part], isWriting: Bool, _ inspect: (Int, borrowing PostgreSQLResult) -> Void = { _, _ in }
    ) throws(PostgreSQLFailure) -> PostgreSQLResult {
        let steps = try parts.map(step)
        try makeRoom(for: steps.count)
        do {
            return try exchange(steps, isWriting: isWriting, inspect)
        } catch {
            guard case .lost = error, parts.contains(where: \.isCommit) else { throw error }
            throw .outcomeUnknown(.outcomeUnknown(reason: "the connection was lost during the commit"))
        }
    }

    private func makeRoom(for count: Int) throws(PostgreSQLFailure) {
        guard prepared.count + count > Self.maximumStatements else { return }
        _ = try command("DEALLOCATE ALL")
        prepared.removeAll()
        parameters.removeAll()
    }

    private func exchange(
        _ steps: [Step], isWriting: Bool, _ inspect: (Int, borrowing PostgreSQLResult) -> Void
    ) throws(PostgreSQLFailure) -> PostgreSQLResult {
        guard PQenterPipelineMode(pointer) == 1 else { throw .disconnected }
        var awaited: [Awaited] = []
        for (index, step) in steps.enumerated() { try send(step, at: index, &awaited) }
        guard PQpipelineSync(pointer) == 1 else { throw .disconnected }
        exchanges += 1
        var failure: PostgreSQLFailure?
        var last: PostgreSQLResult?
        for answer in awaited {
            let result = try receive()
            guard failure == nil else { continue }
            guard result.isSuccess else {
                failure = Self.failure(of: result, steps[answer.index], isWriting: isWriting)
                continue
            }
            if let preparation = answer.preparation {
                prepared[preparation.shape] = preparation.name
            } else {
                inspect(answer.index, result)
                last = consume result
            }
        }
        try endPipeline()
        if let failure { throw failure }
        guard let last else { throw .disconnected }
        return last
    }

    /// A part that is encoded for sending.
    private enum Step {
        case command(String)
        case commit
        case statement(Shape, PostgreSQLArguments)
    }

    /// An expected response, in order.
    private struct Awaited {
        let index: Int
        /// The statement that it prepares; `nil` if it is the response to a part itself.
        let preparation: (shape: Shape, name: String)?
    }

    private func step(_ part: Part) throws(PostgreSQLFailure) -> Step {
        switch part {
        case .command(let sql): return .command(sql)
        case .commit: return .commit
        case .statement(let sql, let values):
            let count = highestParameter(sql)
            guard count == values.count else {
                throw .refused(.statement(reason: "it needs \(count) arguments and got \(values.count)"))
            }
            do {
                let arguments = try PostgreSQLArguments(values)
                return .statement(Shape(sql: sql, types: arguments.types), arguments)
            } catch {
                throw .refused(error)
            }
        }
    }

    private func send(_ step: Step, at index: Int, _ awaited: inout [Awaited]) throws(PostgreSQLFailure) {
        let isSent: Int32
        switch step {
        case .command(let sql):
            isSent = PQsendQueryParams(pointer, sql, 0, nil, nil, nil, nil, 1)
        case .commit:
            isSent = PQsendQueryParams(pointer, "COMMIT", 0, nil, nil, nil, nil, 1)
        case .statement(let shape, let arguments):
            let underWay = awaited.lazy.compactMap(\.preparation).first { $0.shape == shape }?.name
            let name = prepared[shape] ?? underWay ?? "\(prefix)\(names)"
            if prepared[shape] == nil, underWay == nil {
                names += 1
                guard PQsendPrepare(pointer, name, shape.sql, Int32(shape.types.count), shape.types) == 1 else {
                    throw .disconnected
                }
                awaited.append(Awaited(index: index, preparation: (shape, name)))
            }
            isSent = arguments.withPointers { pointers in
                PQsendQueryPrepared(
                    pointer, name, Int32(shape.types.count), pointers, arguments.lengths, arguments.formats, 1)
            }
        }
        guard isSent == 1 else { throw .disconnected }
        awaited.append(Awaited(index: index, preparation: nil))
    }

    private static func failure(
        of result: borrowing PostgreSQLResult, _ step: Step, isWriting: Bool
    ) -> PostgreSQLFailure {
        if case .commit = step { return PostgreSQLFailure(commit: result) }
        if result.isEmptyStatement { return .refused(.statement(reason: "it is empty")) }
        if isWriting, PostgreSQLFailure.isReadOnly(result) {
            return .lost(.unavailable(reason: "the server has become a standby"))
        }
        return PostgreSQLFailure(result)
    }

    private func endPipeline() throws(PostgreSQLFailure) {
        let end = try next(until: deadline)
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC, PQexitPipelineMode(pointer) == 1 else { throw .disconnected }
    }

    private func highestParameter(_ sql: String) -> Int {
        if let known = parameters[sql] { return known }
        let count = ParameterCount.highest(in: sql)
        parameters[sql] = count
        return count
    }

    /// The response to the sent statements: that of the last one, or the first failure.
    private func receive() throws(PostgreSQLFailure) -> PostgreSQLResult {
        let deadline = deadline
        var last: OpaquePointer?
        while true {
            let next: OpaquePointer?
            do {
                next = try self.next(until: deadline)
            } catch {
                PQclear(last)
                throw error
            }
            guard let next else { break }
            PQclear(last)
            last = next
        }
        guard let last else { throw .disconnected }
        return PostgreSQLResult(last)
    }

    private var deadline: ContinuousClock.Instant { .now + .seconds(patience) }

    /// The next result of libpq; `nil` after the last one of a statement.
    private func next(until deadline: ContinuousClock.Instant) throws(PostgreSQLFailure) -> OpaquePointer? {
        while PQisBusy(pointer) == 1 {
            guard wait(until: deadline), PQconsumeInput(pointer) == 1 else { throw .disconnected }
        }
        return PQgetResult(pointer)
    }

    /// Waits for bytes; `false` if none arrived in time.
    private func wait(until deadline: ContinuousClock.Instant) -> Bool {
        // OpenSSL may have buffered the rest of a TLS record while the socket is empty.
        if CPostgreSQL_pending(pointer) > 0 { return true }
        while true {
            var descriptor = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard isPatient || left > 0 else {
                canceller?.cancel()
                return false
            }
            // The server gets no cancellation, because it would not receive it.
            guard isPatient || reach?.isGivenUp(since: deadline - .seconds(patience)) != true else { return false }
            let ready = poll(&descriptor, 1, isPatient ? 60_000 : Int32(min(left, LaneReach.slice).rounded(.up)))
            if ready > 0 { return true }
            if ready < 0, errno != EINTR { return false }
        }
    }
}
