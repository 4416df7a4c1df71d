import Foundation

/// How long a node waits for PostgreSQL, in seconds.
package struct PostgreSQLTimeouts: Sendable {
    /// For each host to take a connection; the address's own `connect_timeout` stands above it.
    package var connect: TimeInterval = 3
    /// For one statement (`statement_timeout`), for a free connection, and for other writers to be out of the way.
    package var statement: TimeInterval = 10
    /// For a lock that another transaction holds (`lock_timeout`).
    package var lock: TimeInterval = 5

    package init() {}
}

/// A thread's connection, made anew whenever it was lost, and the rules by which a body is run again.
final class PostgreSQLSession {
    /// How often a body is begun again after its connection was lost: the first may have been stale, the second is news.
    private static let maximumLosses = 2
    /// How often a change of the schema is begun again, which otherwise waits as long as it must.
    private static let maximumMeetings = 100

    private let address: PostgreSQLAddress
    private let timeouts: PostgreSQLTimeouts
    private let count: (Int) -> Void
    private var connection: PostgreSQLConnection?

    /// A session that connects with its first body.
    ///
    /// - Parameter count: is told how often each attempt waited for the server.
    init(_ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts, count: @escaping (Int) -> Void) {
        self.address = address
        self.timeouts = timeouts
        self.count = count
    }

    /// Runs a body in a transaction; from its start again where it is known that nothing of it was kept.
    func transact<T>(
        _ kind: PostgreSQLTransaction.Kind, clock: (@Sendable () -> Date)?, _ body: (any Transaction) throws -> T
    ) throws -> T {
        let deadline = ContinuousClock.now + .seconds(timeouts.statement)
        var (losses, conflicts) = (0, 0)
        while true {
            do {
                return try attempt(kind, clock: clock, body)
            } catch PostgreSQLFailure.conflict(let error) {
                conflicts += 1
                // That something is there already is no mistake only where several make the schema at once.
                if case .statement = error, kind != .alter { throw error }
                guard kind == .alter ? conflicts < Self.maximumMeetings : ContinuousClock.now < deadline else {
                    throw error
                }
                // Chance keeps two writers from meeting again and again.
                Thread.sleep(forTimeInterval: .random(in: 0...min(0.064, 0.001 * Double(1 << min(conflicts, 6)))))
            } catch PostgreSQLFailure.lost(let error) {
                connection = nil
                losses += 1
                guard losses <= Self.maximumLosses else { throw error }
            } catch PostgreSQLFailure.outcomeUnknown(let error) {
                connection = nil
                throw error
            } catch let failure as PostgreSQLFailure {
                throw failure.error
            }
        }
    }

    func close() {
        connection = nil
    }

    private func attempt<T>(
        _ kind: PostgreSQLTransaction.Kind, clock: (@Sendable () -> Date)?, _ body: (any Transaction) throws -> T
    ) throws -> T {
        let connection = try self.connection ?? PostgreSQLConnection(address, timeouts: timeouts)
        self.connection = connection
        let before = connection.exchanges
        defer { count(connection.exchanges - before) }
        let transaction = PostgreSQLTransaction(connection, kind, clock: clock)
        let result = Result { try body(transaction) }
        if let failure = transaction.failure {
            if case .lost = failure { throw failure }
            takeBack(transaction)
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
