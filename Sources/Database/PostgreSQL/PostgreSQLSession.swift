import Foundation
import Synchronization

/// Time limits for PostgreSQL, in seconds.
package struct PostgreSQLTimeouts: Sendable {
    /// The time limit for a connection to each host. The address's own `connect_timeout` takes precedence.
    var connect: TimeInterval = 3
    /// The time limit for one statement (`statement_timeout`), for a free connection, and for retries after conflicts.
    var statement: TimeInterval = 10
    /// The time limit for one statement of a page of the console, and for a free connection to read it by.
    var page: TimeInterval = 2
    /// The time limit for a lock of another transaction (`lock_timeout`).
    var lock: TimeInterval = 5
    /// The time limit for the cancellation of a statement. After that the connection is closed.
    var grace: TimeInterval = 5

    init() {}

    /// Shorter limits: nobody waits longer for a page.
    var ofConsole: PostgreSQLTimeouts {
        var timeouts = self
        (timeouts.statement, timeouts.lock) = (min(statement, page), min(lock, page))
        return timeouts
    }

    /// Shorter limits: a slow heartbeat is useless, so another connection is tried.
    var ofHeartbeats: PostgreSQLTimeouts {
        var timeouts = self
        (timeouts.statement, timeouts.grace) = (min(statement, 2), min(grace, 0.5))
        return timeouts
    }
}

/// The timeline of the server that the change log was last read from. A promoted standby has a different one.
final class FollowedTimeline: Sendable {
    /// The timeline as an SQL expression.
    static let question = "left(pg_walfile_name(pg_current_wal_lsn()), 8)"

    private let timeline = Mutex<String?>(nil)

    var present: String? { timeline.withLock { $0 } }

    func follow(_ incarnation: String?) {
        guard let last = incarnation?.split(separator: ".").last else { return }
        timeline.withLock { $0 = String(last) }
    }
}

/// A thread's connection. It is opened again after it was lost.
final class PostgreSQLSession {
    private let address: PostgreSQLAddress
    private let timeouts: PostgreSQLTimeouts
    private let isReadOnly: Bool
    private let followed: FollowedTimeline?
    private let reach: LaneReach?
    private let count: (Int) -> Void
    private var connection: PostgreSQLConnection?
    /// The timeline of the connected server.
    private var timeline: String?

    /// A session that connects with its first body.
    ///
    /// - Parameters:
    ///   - isReadOnly: whether the server refuses changes.
    ///   - followed: the timeline of the change log, if this session must read from that server too.
    ///   - reach: whether the server responds, and what this session does while it does not.
    ///   - count: receives the number of waits for the server of each attempt.
    init(
        _ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts, isReadOnly: Bool,
        followed: FollowedTimeline? = nil,
        reach: LaneReach? = nil, count: @escaping (Int) -> Void
    ) {
        (self.followed, self.reach) = (followed, reach)
        self.isReadOnly = isReadOnly
        self.address = address
        self.timeouts = timeouts
        self.count = count
    }

    /// The outcome of a body.
    enum Ending<T> {
        case done(T)
        /// Nothing was kept, and the body must be run again after this pause in seconds.
        case again(after: TimeInterval)
    }

    /// Runs a body in a transaction, and again from its start if nothing of it was kept.
    ///
    /// - Parameter turn: the lock of its turn. If it is not free in time, the body runs without it.
    func transact<T>(
        _ kind: PostgreSQLTransaction.Kind, turn: Int64? = nil, clock: (@Sendable () -> Date)?,
        _ retries: inout PostgreSQLRetries, _ cancellation: PostgreSQLCancellation?,
        _ body: (PostgreSQLTransaction) throws -> T
    ) throws -> Ending<T> {
        retries.begin()
        var turn = turn
        while true {
            do {
                return .done(try attempt(kind, turn: turn, clock: clock, cancellation, body))
            } catch let failure as PostgreSQLFailure {
                switch failure {
                case .lost, .outcomeUnknown: connection = nil
                case .missedTurn: turn = nil
                case .conflict, .locked, .refused: break
                }
                let pause = try retries.pause(after: failure)
                if pause > 0 { return .again(after: pause) }
            }
        }
    }

    /// Runs a command outside a transaction, on its own connection and without a time limit.
    func carryOut(_ command: String) throws -> Ending<Void> {
        do throws(PostgreSQLFailure) {
            let connection = try PostgreSQLConnection(address, timeouts: timeouts)
            connection.isPatient = true
            _ = try connection.command("SET statement_timeout = 0; SET lock_timeout = 0")
            _ = try connection.command(command)
            return .done(())
        } catch {
            // It conflicted with other transactions, so the caller checks the state again.
            if case .conflict = error { return .done(()) }
            throw error.error
        }
    }

    func close() {
        connection = nil
    }

    private func connect() throws -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(address, timeouts: timeouts)
        connection.reach = reach
        if isReadOnly { _ = try connection.command("SET default_transaction_read_only = on") }
        if followed != nil {
            timeline = try connection.command("SELECT \(FollowedTimeline.question)").row(0).text(0)
        }
        return connection
    }

    /// Refuses a server with another timeline than the change log's, whose data may differ.
    private func requireFollowed() throws(PostgreSQLFailure) {
        guard let present = followed?.present, let timeline, present != timeline else { return }
        throw .lost(.unavailable(reason: "this server is not the one that the change log is read from"))
    }

    private func attempt<T>(
        _ kind: PostgreSQLTransaction.Kind, turn: Int64?, clock: (@Sendable () -> Date)?,
        _ cancellation: PostgreSQLCancellation?, _ body: (PostgreSQLTransaction) throws -> T
    ) throws -> T {
        if reach?.isClosed == true {
            throw StoreError.unavailable(reason: "the server does not respond")
        }
        let connection = try self.connection ?? connect()
        self.connection = connection
        try requireFollowed()
        guard cancellation?.begin(connection.canceller) ?? true else {
            throw StoreError.unavailable(reason: "its caller gave up")
        }
        defer { if cancellation?.end() == false { self.connection = nil } }
        let before = connection.exchanges
        defer { count(connection.exchanges - before) }
        let transaction = PostgreSQLTransaction(connection, kind, turn: turn, clock: clock, timeline: timeline)
        let result = Result { try body(transaction) }
        if let failure = transaction.failure {
            switch failure {
            case .lost, .outcomeUnknown: break
            case .conflict, .locked, .missedTurn, .refused: takeBack(transaction)
            }
            throw failure
        }
        switch result {
        case .success(let value):
            do throws(PostgreSQLFailure) {
                try transaction.commit()
            } catch {
                if case .outcomeUnknown = error {} else { takeBack(transaction) }
                throw error
            }
            if transaction.keepsTurn { self.connection = nil }
            try requireFollowed()
            return value
        case .failure(let error):
            takeBack(transaction)
            throw error
        }
    }

    /// Rolls back, or closes the connection if that fails, so that the server does it.
    private func takeBack(_ transaction: PostgreSQLTransaction) {
        do {
            try transaction.rollBack()
        } catch {
            connection = nil
        }
    }
}
