import Foundation

/// A transaction on one PostgreSQL connection, between `BEGIN` and `COMMIT`.
///
/// Each wait for the server costs more than most statements. `BEGIN` is therefore sent with the first statement, and
/// enqueued statements with the next one or with `COMMIT`.
final class PostgreSQLTransaction: Transaction {
    let engine = Engine.postgreSQL
    private let connection: PostgreSQLConnection
    private let kind: Kind
    private let knownTimeline: String?
    private var moment: Date?
    private var hasBegun = false
    private var hasCommitted = false
    /// The lock of its turn, taken before its snapshot: see `PostgreSQLTurns`.
    private let turn: Int64?
    /// Whether the start of ``runApart(_:)`` has not been sent yet.
    private var isApartDue = false
    /// The number of entries that it appended to the change log.
    private var changes: Int64 = 0
    private var later: [PostgreSQLConnection.Part] = []
    /// Results of queries that were sent ahead, until the transaction writes.
    private var known: [Question: [Row]] = [:]
    private var once = WritesOnce()
    /// The failure of a statement, which ends the transaction on the server too.
    private(set) var failure: PostgreSQLFailure?
    /// Whether the lock of the turn remains after the transaction has ended.
    private(set) var keepsTurn = false

    /// The maximum number of enqueued statements, so that neither side fills the other's buffers.
    private static let mostLater = 32
    /// The start of the transaction in microseconds since 1970.
    private static let time = "SELECT CAST(extract(epoch FROM now()) * 1000000 AS BIGINT)"

    /// A transaction that begins with its first statement.
    ///
    /// - Parameters:
    ///   - turn: the lock of its turn, if it has one.
    ///   - timeline: the server's, if the connection has read it.
    init(
        _ connection: PostgreSQLConnection, _ kind: Kind, turn: Int64? = nil, clock: (@Sendable () -> Date)?,
        timeline: String? = nil
    ) {
        (knownTimeline, self.turn) = (timeline, turn)
        connection.isPatient = kind == .alter
        self.connection = connection
        self.kind = kind
        moment = clock?().inMilliseconds
    }

    /// The time at which the transaction began. Before the first statement it costs an extra wait.
    var now: Date {
        if moment == nil, failure == nil { begin() }
        // Without a response the body has failed anyway.
        return moment ?? .distantPast
    }

    func timeline() throws -> String {
        try knownTimeline ?? first("SELECT \(FollowedTimeline.question)")?.text(0) ?? ""
    }

    /// Begins in a separate exchange. A failure is reported by the next statement, and at the end of the body.
    private func begin() {
        do throws(PostgreSQLFailure) {
            _ = try exchange([])
        } catch {
            failure = error
        }
    }

    func commit() throws(PostgreSQLFailure) {
        guard hasBegun || !later.isEmpty, !hasCommitted, kind != .statement else { return }
        guard kind.isWriting else {
            _ = try exchange([.command("COMMIT")])
            return
        }
        connection.forgetWarnings()
        guard let turn else { return try requireCommitted(try exchange([.commit]).command) }
        var command = ""
        do throws(PostgreSQLFailure) {
            _ = try exchange([.commit, PostgreSQLTurns.release(turn)]) {
                if command.isEmpty { command = $0.command }
            }
        } catch {
            // It was committed nevertheless. The lock is released with the connection.
            guard command == "COMMIT" else { throw error }
            keepsTurn = true
        }
        try requireCommitted(command)
    }

    /// Executes statements and commits, in one exchange.
    ///
    /// - Returns: the rows of each.
    func conclude(_ statements: [PostgreSQLConnection.Part]) throws -> [[Row]] {
        let before = kind.begin.map { PostgreSQLConnection.Part.command($0) }
        var answers: [Result<[Row], StoreError>] = []
        connection.forgetWarnings()
        hasBegun = true
        do throws(PostgreSQLFailure) {
            let parts = before + statements + [.commit]
            let last = try connection.exchange(parts, isWriting: true) { index, result in
                guard index >= before.count, answers.count < statements.count else { return }
                answers.append(result.rows)
            }
            try requireCommitted(last.command)
        } catch {
            failure = error
            throw error.error
        }
        hasCommitted = true
        return try answers.map { try $0.get() }
    }

    private func requireCommitted(_ command: String) throws(PostgreSQLFailure) {
        guard command != "ROLLBACK" else { throw .refused(.unavailable(reason: "the server rolled the commit back")) }
        guard command == "COMMIT" else {
            throw .outcomeUnknown(.outcomeUnknown(reason: "the server sent an unexpected response to the commit"))
        }
        // If the wait for a synchronous standby is cancelled, the server commits nevertheless, with a warning.
        guard !connection.hasWarned else {
            throw .outcomeUnknown(
                .outcomeUnknown(reason: "the server warned that the commit may be lost in a failover"))
        }
    }

    func rollBack() throws(PostgreSQLFailure) {
        guard hasBegun, !hasCommitted, kind != .statement else { return }
        _ = try connection.command(turn == nil ? "ROLLBACK" : "ROLLBACK; SELECT pg_advisory_unlock_all()")
    }

    /// Starts a part that can be rolled back separately, with the next statement.
    func beginApart() {
        known = [:]
        later.append(.command("SAVEPOINT apart"))
        isApartDue = true
        once.beginApart()
    }

    /// Keeps the part, and executes enqueued statements. A failure is in ``failure``.
    func keepApart() throws {
        _ = try perform([.command("RELEASE SAVEPOINT apart")])
    }

    /// Rolls the part back. The transaction continues in the state before the part.
    func takeBackApart() throws {
        (later, known) = ([], [:])
        once.takeBackApart()
        guard !isApartDue else {
            isApartDue = false
            return
        }
        do throws(PostgreSQLFailure) {
            _ = try connection.command("ROLLBACK TO SAVEPOINT apart; RELEASE SAVEPOINT apart")
            failure = nil
        } catch {
            failure = error
            throw error.error
        }
    }

    /// Under `READ COMMITTED` each statement has its own snapshot, so earlier results are not valid.
    func ahead(_ body: (any Transaction) throws -> Void) throws {
        guard kind == .read || kind == .write else { return }
        if let failure { throw failure.error }
        let list = StatementsAhead(now: { self.moment ?? .distantPast })
        try body(list)
        let questions = list.questions.filter { known[$0] == nil }
        for start in stride(from: 0, to: questions.count, by: Self.mostLater) {
            let some = questions[start..<min(start + Self.mostLater, questions.count)]
            var answers: [Result<[Row], StoreError>] = []
            _ = try perform(some.map { .statement($0.sql, $0.arguments) }) { answers.append($0.rows) }
            for (question, answer) in zip(some, answers) {
                do throws(StoreError) {
                    known[question] = try answer.get()
                } catch {
                    failure = .refused(error)
                    throw error
                }
            }
        }
    }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        if let rows = try answer(to: sql, arguments) { return rows }
        let result = try perform(sql, arguments)
        var rows: [Row] = []
        rows.reserveCapacity(result.count)
        for index in 0..<result.count {
            rows.append(try row(index, of: result))
        }
        return rows
    }

    func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
        if let rows = try answer(to: sql, arguments) { return rows.first }
        let result = try perform(sql, arguments)
        return result.count > 0 ? try row(0, of: result) : nil
    }

    @discardableResult func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        known = [:]
        return try perform(sql, arguments).changedRows
    }

    func enqueue(_ sql: String, _ arguments: [Value]) throws {
        if let failure { throw failure.error }
        known = [:]
        later.append(.statement(sql, arguments))
        if later.count >= Self.mostLater { _ = try perform([]) }
    }

    func once(_ key: [Value], _ writes: () throws -> Void) throws {
        if once.isNew(key) { try writes() }
    }

    /// The known result of a query. A statement that may write discards all known results.
    private func answer(to sql: String, _ arguments: [Value]) throws -> [Row]? {
        if let failure { throw failure.error }
        if known.isEmpty { return nil }
        if !sql.hasPrefix("SELECT") { known = [:] }
        return known[Question(sql: sql, arguments: arguments)]
    }

    func appendChange(kind: Int, key: [UInt8]) throws {
        changes += 1
        try enqueue(
            "INSERT INTO change_log (n, tag, kind, key) VALUES ($1, $2, $3, $4)",
            [.integer(changes), .integer(.random(in: Int64.min...Int64.max)), Value(kind), .bytes(key)])
    }

    private func perform(_ sql: String, _ arguments: [Value]) throws(StoreError) -> PostgreSQLResult {
        try perform([.statement(sql, arguments)])
    }

    private func perform(
        _ parts: [PostgreSQLConnection.Part], _ inspect: (borrowing PostgreSQLResult) -> Void = { _ in }
    ) throws(StoreError) -> PostgreSQLResult {
        if let failure { throw failure.error }
        do {
            return try exchange(parts, inspect)
        } catch {
            failure = error
            throw error.error
        }
    }

    /// Sends pending statements, then some parts, and returns the response to the last one.
    ///
    /// - Parameter inspect: receives the response to each of the parts.
    private func exchange(
        _ last: [PostgreSQLConnection.Part], _ inspect: (borrowing PostgreSQLResult) -> Void = { _ in }
    ) throws(PostgreSQLFailure) -> PostgreSQLResult {
        var (parts, clock) = ([PostgreSQLConnection.Part](), Int?.none)
        let isFirst = !hasBegun
        if isFirst {
            parts = PostgreSQLTurns.take(turn) + kind.begin.map { .command($0) }
            if moment == nil, kind != .statement {
                clock = parts.count
                parts.append(.statement(Self.time, []))
            }
        }
        parts += later
        let before = parts.count
        parts += last
        (later, isApartDue) = ([], false)
        hasBegun = true
        var moment = moment
        do throws(PostgreSQLFailure) {
            let answer = try connection.exchange(parts, isWriting: kind.isWriting) { index, result in
                if index >= before { inspect(result) }
                guard index == clock, let microseconds = try? result.row(0).integer(0) else { return }
                moment = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000).inMilliseconds
            }
            self.moment = moment
            return answer
        } catch {
            guard isFirst, turn != nil else { throw error }
            switch error {
            // The first statement of a body only reads, so the failed wait was for the turn. An engine may lack such
            // locks.
            case .locked(let error), .refused(let error): throw .missedTurn(error)
            case .conflict, .lost, .missedTurn, .outcomeUnknown: throw error
            }
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
