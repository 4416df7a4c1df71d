import Foundation
import Synchronization

/// How long a node waits for PostgreSQL, in seconds.
package struct PostgreSQLTimeouts: Sendable {
    /// For each host to take a connection; the address's own `connect_timeout` stands above it.
    package var connect: TimeInterval = 3
    /// For one statement (`statement_timeout`), for a free connection, and for other writers to be out of the way.
    package var statement: TimeInterval = 10
    /// For a lock that another transaction holds (`lock_timeout`).
    package var lock: TimeInterval = 5
    /// For a server that should have given a statement up, before the connection is.
    package var grace: TimeInterval = 5

    package init() {}

    /// A commit that took longer tells nothing of use: another connection is tried.
    var ofHeartbeats: PostgreSQLTimeouts {
        var timeouts = self
        (timeouts.statement, timeouts.grace) = (min(statement, 2), min(grace, 0.5))
        return timeouts
    }
}

/// The timeline of the server that the log of changes was last read from: one that takes over has another.
final class FollowedTimeline: Sendable {
    /// What a server answers, as an expression.
    static let question = "left(pg_walfile_name(pg_current_wal_lsn()), 8)"

    private let timeline = Mutex<String?>(nil)

    var present: String? { timeline.withLock { $0 } }

    func follow(_ incarnation: String?) {
        guard let last = incarnation?.split(separator: ".").last else { return }
        timeline.withLock { $0 = String(last) }
    }
}

/// A thread's connection, made anew whenever it was lost.
final class PostgreSQLSession {
    private let address: PostgreSQLAddress
    private let timeouts: PostgreSQLTimeouts
    private let isReadOnly: Bool
    private let followed: FollowedTimeline?
    private let reach: LaneReach?
    private let count: (Int) -> Void
    private var connection: PostgreSQLConnection?
    /// That of the server that the connection was made to.
    private var timeline: String?

    /// A session that connects with its first body.
    ///
    /// - Parameters:
    ///   - isReadOnly: whether the server refuses whatever would change something.
    ///   - followed: which server the log of changes is read from, if what is read here must come from it as well.
    ///   - reach: whether the server answers at all, and what this session does while it does not.
    ///   - count: is told how often each attempt waited for the server.
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

    /// What became of a body.
    enum Ending<T> {
        case done(T)
        /// Nothing of it was kept, and it is to be run again after so many seconds.
        case again(after: TimeInterval)
    }

    /// Runs a body in a transaction; from its start again where it is known that nothing of it was kept.
    ///
    /// - Parameter turn: the lock of its turn. Whoever stands still while it has it is not waited for.
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

    /// Runs a command that may be in no transaction, on a connection of its own and as long as it takes.
    func carryOut(_ command: String) throws -> Ending<Void> {
        do throws(PostgreSQLFailure) {
            let connection = try PostgreSQLConnection(address, timeouts: timeouts)
            connection.isPatient = true
            _ = try connection.command("SET statement_timeout = 0; SET lock_timeout = 0")
            _ = try connection.command(command)
            return .done(())
        } catch {
            // Others were in the way: the caller looks again what is there.
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

    /// What another server says than that of the log is of a time that nobody follows.
    private func requireFollowed() throws(PostgreSQLFailure) {
        guard let present = followed?.present, let timeline, present != timeline else { return }
        throw .lost(.unavailable(reason: "this server is not the one that the log of changes is read from"))
    }

    private func attempt<T>(
        _ kind: PostgreSQLTransaction.Kind, turn: Int64?, clock: (@Sendable () -> Date)?,
        _ cancellation: PostgreSQLCancellation?, _ body: (PostgreSQLTransaction) throws -> T
    ) throws -> T {
        if reach?.isClosed == true {
            throw StoreError.unavailable(reason: "the server does not answer")
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

    /// A connection that does not take a transaction back is let go: the server then does it.
    private func takeBack(_ transaction: PostgreSQLTransaction) {
        do {
            try transaction.rollBack()
        } catch {
            connection = nil
        }
    }
}
