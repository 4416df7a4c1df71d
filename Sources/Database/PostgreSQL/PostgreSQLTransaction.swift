import Foundation

/// A conversation over one PostgreSQL connection, between `BEGIN` and `COMMIT`.
///
/// Each wait for the server costs more than most statements. `BEGIN` therefore goes out with the first statement, and
/// what was put off (`enqueue`) with the next one or with `COMMIT`.
final class PostgreSQLTransaction: Transaction {
    let engine = Engine.postgreSQL
    private let connection: PostgreSQLConnection
    private let kind: Kind
    private let knownTimeline: String?
    private var moment: Date?
    private var hasBegun = false
    private var hasCommitted = false
    /// The lock of its turn, which it takes before its snapshot: see `PostgreSQLTurns`.
    private let turn: Int64?
    /// Whether the server has the beginning of ``runApart(_:)`` still to come.
    private var isApartDue = false
    /// How many entries of the change log it wrote.
    private var changes: Int64 = 0
    private var later: [PostgreSQLConnection.Part] = []
    /// What was asked ahead, as long as nothing is written.
    private var known: [Question: [Row]] = [:]
    /// Why a statement failed: it ends the transaction on the server too.
    private(set) var failure: PostgreSQLFailure?
    /// Whether the lock of the turn is there although the transaction has ended.
    private(set) var keepsTurn = false

    /// What was put off is sent when there is so much of it, so that neither side fills the other's buffers.
    private static let mostLater = 32
    /// Microseconds since 1970.
    private static let time = "SELECT CAST(extract(epoch FROM now()) * 1000000 AS BIGINT)"

    /// A transaction that begins with its first statement; the clock is the server's where none is given.
    ///
    /// - Parameters:
    ///   - turn: the lock of its turn, if it has one.
    ///   - timeline: the server's, where the connection has asked for it.
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

    /// The time at which the transaction began; asked before the first statement it costs a wait of its own.
    var now: Date {
        if moment == nil, failure == nil { begin() }
        // Without an answer of the server the body has failed, whatever it makes of this.
        return moment ?? .distantPast
    }

    func timeline() throws -> String {
        try knownTimeline ?? first("SELECT \(FollowedTimeline.question)")?.text(0) ?? ""
    }

    /// Begins alone. That it failed is told by the next statement, and by the end of the body.
    private func begin() {
        do throws(PostgreSQLFailure) {
            _ = try exchange([])
        } catch {
            failure = error
        }
    }

    /// Makes what was written durable.
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
            // It is committed all the same; the lock goes with the connection.
            guard command == "COMMIT" else { throw error }
            keepsTurn = true
        }
        try requireCommitted(command)
    }

    /// Carries out statements and commits, all in one exchange.
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
                answers.append(Self.rows(of: result))
            }
            try requireCommitted(last.command)
        } catch {
            failure = error
            throw error.error
        }
        hasCommitted = true
        return try answers.map { try $0.get() }
    }

    private static func rows(of result: borrowing PostgreSQLResult) -> Result<[Row], StoreError> {
        var rows: [Row] = []
        do throws(StoreError) {
            for index in 0..<result.count { rows.append(try result.row(index)) }
        } catch {
            return .failure(error)
        }
        return .success(rows)
    }

    private func requireCommitted(_ command: String) throws(PostgreSQLFailure) {
        guard command != "ROLLBACK" else { throw .refused(.unavailable(reason: "the server took the commit back")) }
        guard command == "COMMIT" else {
            throw .outcomeUnknown(.outcomeUnknown(reason: "the server gave a strange answer to the commit"))
        }
        // The server commits all the same where somebody ends its wait for a synchronous standby, and warns.
        guard !connection.hasWarned else {
            throw .outcomeUnknown(
                .outcomeUnknown(reason: "the server warned that the commit may be lost in a failover"))
        }
    }

    /// Takes back what was written.
    func rollBack() throws(PostgreSQLFailure) {
        guard hasBegun, !hasCommitted, kind != .statement else { return }
        _ = try connection.command(turn == nil ? "ROLLBACK" : "ROLLBACK; SELECT pg_advisory_unlock_all()")
    }

    /// Begins what can be taken back by itself, with the next statement.
    func beginApart() {
        known = [:]
        later.append(.command("SAVEPOINT apart"))
        isApartDue = true
    }

    /// Keeps it, and carries out what was put off. That it failed is known by ``failure``.
    func keepApart() throws {
        _ = try perform([.command("RELEASE SAVEPOINT apart")])
    }

    /// Takes it back; the transaction goes on as if nothing of it had been asked.
    func takeBackApart() throws {
        (later, known) = ([], [:])
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

    /// Under `READ COMMITTED` each statement has a snapshot of its own, and an answer of before is none.
    func ahead(_ body: (any Transaction) throws -> Void) throws {
        guard kind == .read || kind == .write else { return }
        if let failure { throw failure.error }
        let list = StatementsAhead(now: moment ?? .distantPast)
        try body(list)
        let questions = list.questions.filter { known[$0] == nil }
        for start in stride(from: 0, to: questions.count, by: Self.mostLater) {
            let some = questions[start..<min(start + Self.mostLater, questions.count)]
            var answers: [Result<[Row], StoreError>] = []
            _ = try perform(some.map { .statement($0.sql, $0.arguments) }) { answers.append(Self.rows(of: $0)) }
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

    /// What is known of a statement that is asked now; one that may write ends all knowledge.
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

    /// Sends what is due, with some parts behind it, and gives the answer to the last of all.
    ///
    /// - Parameter inspect: is shown the answer to each of the parts.
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
            // The first statement of a body only reads: what was waited for is the turn. An engine may have no such locks.
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
