import Foundation
import Synchronization

/// A store on a server that speaks PostgreSQL's protocol, shared by any number of nodes.
///
/// A writing body runs under `SERIALIZABLE`. It runs again from its start if the server rolled it back because of other
/// transactions, or if its connection was lost before the commit. Statements of ``share(_:)`` need less. Reads have
/// their own connections, so many writers do not keep a node from reading changes.
package final class PostgreSQLDatabase: Database {
    private let writers: PostgreSQLWorkers
    private let readers: PostgreSQLWorkers
    private let watching: PostgreSQLWorkers
    private let beating: PostgreSQLWorkers
    private let administration: PostgreSQLWorkers
    private let console: PostgreSQLWorkers
    let timeouts: PostgreSQLTimeouts
    let clock: (@Sendable () -> Date)?
    private let stamp = Atomic<Int64>(0)
    private let begunAgain = Atomic<Int>(0)
    let sharing = PostgreSQLSharing()
    let turns = PostgreSQLTurns()
    let followed = FollowedTimeline()
    let reach = PostgreSQLReach()

    /// Describes the store. The first body connects.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - clock: the source of `Transaction.now` instead of the server's clock.
    ///   - lanes: the number of connections of each lane, unless the address specifies it.
    package init(
        _ address: PostgreSQLAddress, clock: (@Sendable () -> Date)? = nil, lanes: LaneSizes? = nil,
        timeouts: PostgreSQLTimeouts = PostgreSQLTimeouts()
    ) {
        self.clock = clock
        self.timeouts = timeouts
        let lanes = lanes ?? address.lanes
        writers = PostgreSQLWorkers(address, timeouts: timeouts, limit: lanes.writes, reach: LaneReach(reach: reach))
        readers = PostgreSQLWorkers(
            address, timeouts: timeouts, limit: lanes.reads, isReadOnly: true, followed: followed,
            reach: LaneReach(reach: reach))
        administration = PostgreSQLWorkers(
            address, timeouts: timeouts, limit: lanes.administration, reach: LaneReach(reach: reach))
        console = PostgreSQLWorkers(
            address, timeouts: timeouts.ofConsole, limit: lanes.console, isReadOnly: true, followed: followed,
            reach: LaneReach(reach: reach))
        watching = PostgreSQLWorkers(
            address, timeouts: timeouts, limit: 1, isReadOnly: true, reach: LaneReach(reach: reach, triesAgain: true))
        beating = PostgreSQLWorkers(address, timeouts: timeouts.ofHeartbeats, limit: Heartbeat.mostUnderWay)
    }

    /// Like ``query(_:_:)``, on the connection for changes.
    func ask(_ sql: String, _ arguments: [Value]) async throws -> [Row] {
        try await run(.statement, on: watching) { try $0.query(sql, arguments) }
    }

    /// Runs a body like ``maintain(_:)`` on the lane of administration, before queued writes.
    func maintainAtOnce<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.maintain, on: administration, body)
    }

    /// Runs a body like ``maintain(_:)`` on a connection for heartbeats.
    func beat<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let begunAt = reach.begin()
        do {
            let result = try await run(.maintain, on: beating, body)
            reach.end(begunAt: begunAt, hasCommitted: true)
            return result
        } catch {
            reach.end(begunAt: begunAt, hasCommitted: false)
            throw error
        }
    }

    /// Executes statements under `READ COMMITTED` and commits, in one exchange.
    ///
    /// - Returns: the rows of each.
    func conclude(_ parts: [PostgreSQLConnection.Part]) async throws -> [[Row]] {
        try await run(.share, on: writers) { try $0.conclude(parts) }
    }

    /// Runs a body under `SERIALIZABLE`. Its snapshot is taken after the transactions before it in its turn.
    func runInTurn<T: Sendable>(
        _ turn: Turn, _ body: @Sendable @escaping (PostgreSQLTransaction) throws -> T
    ) async throws -> T {
        try await run(.write, turn: turn.lock, on: writers, body)
    }

    /// Runs a body like ``write(_:)``, once.
    ///
    /// - Throws: `MetOthers` also if it was rolled back because of other transactions.
    func writeUnlessMet<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let clock = clock
        return try await submit(PostgreSQLRetries(.write, timeouts), to: writers, isRepeated: false) {
            session, retries in
            try session.transact(.write, clock: clock, &retries, nil, body)
        }
    }

    /// Executes a command outside every transaction.
    func carryOut(_ command: String) async throws {
        try await submit(PostgreSQLRetries(.alter, timeouts), to: writers) { session, _ in
            try session.carryOut(command)
        }
    }
}

package extension PostgreSQLDatabase {
    func read<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.read, on: readers, body)
    }

    func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        let workers =
            switch lane {
            case .usual: readers
            case .administration: administration
            case .console: console
            }
        return try await run(.read, on: workers, body)
    }

    func readReserved<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.read, on: watching, body)
    }

    /// - Throws: the body's error, or a `StoreError`: `outcomeUnknown` if the connection was lost during the commit, or
    ///   the server did not wait for its standby.
    @discardableResult
    func write<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.write, on: writers, body)
    }

    @discardableResult
    func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.write, on: lane == .usual ? writers : administration, body)
    }

    @discardableResult
    func alter<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.alter, on: writers, body)
    }

    /// The rows of one statement, which the server executes without `BEGIN` and `COMMIT`. It takes one wait, and half
    /// of the server's work for a lookup by key.
    ///
    /// - Throws: `StoreError`.
    func query(_ sql: String, _ arguments: [Value]) async throws -> [Row] {
        try await run(.statement, on: readers) { try $0.query(sql, arguments) }
    }

    /// Runs a body under `READ COMMITTED`. It fails soon if rows are locked.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    @discardableResult
    func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.maintain, on: writers, body)
    }

    /// A new number each time, because the server has no cheap one that changes with commits. The caller thus always
    /// reads the changes.
    ///
    /// - Throws: `StoreError.unavailable` for a closed store. An unavailable server is noticed by the reading.
    func changeStamp() throws -> Int64 {
        guard !writers.isClosed else { throw StoreError.closed }
        return stamp.add(1, ordering: .relaxed).newValue
    }

    func check() async throws {
        _ = try await read { try $0.first("SELECT 1") }
    }

    /// How often the node waited for the server so far, which takes long for a distant node.
    var exchanges: Int {
        [writers, readers, watching, administration, console, beating].reduce(0) { $0 + $1.exchanges }
    }

    /// How often a transaction was rolled back because of other transactions, and run again.
    var repetitions: Int { begunAgain.load(ordering: .relaxed) }

    /// The number of other sessions of this service in the database: of its nodes and commands.
    ///
    /// - Throws: `StoreError`.
    func countOtherSessions() async throws -> Int {
        try await read { transaction in
            let row = try transaction.first(
                """
                SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database()
                AND usename = current_user AND application_name = 'countersign' AND pid <> pg_backend_pid()
                """)
            return Int(try row?.integer(0) ?? 0)
        }
    }

    func close() async throws {
        await beating.close()
        await watching.close()
        await readers.close()
        await administration.close()
        await console.close()
        await writers.close()
    }

    private func run<T: Sendable>(
        _ kind: PostgreSQLTransaction.Kind, turn: Int64? = nil, on workers: PostgreSQLWorkers,
        _ body: @Sendable @escaping (PostgreSQLTransaction) throws -> T
    ) async throws -> T {
        let clock = clock
        // A read is useless after its caller was cancelled. A write is not cancelled, so that its outcome is known.
        let cancellation = kind.isWriting ? nil : PostgreSQLCancellation()
        return try await withTaskCancellationHandler {
            try await submit(PostgreSQLRetries(kind, timeouts), to: workers) { session, retries in
                try session.transact(kind, turn: turn, clock: clock, &retries, cancellation, body)
            }
        } onCancel: {
            cancellation?.cancel()
        }
    }

    private func submit<T: Sendable>(
        _ retries: PostgreSQLRetries, to workers: PostgreSQLWorkers, isRepeated: Bool = true,
        _ work: @Sendable @escaping (PostgreSQLSession, inout PostgreSQLRetries) throws -> PostgreSQLSession.Ending<T>
    ) async throws -> T {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            workers.submit(
                PostgreSQLWorkers.Job(
                    run: { session, retries in
                        do {
                            switch try work(session, &retries) {
                            case .done(let value): continuation.resume(returning: value)
                            case .again(let pause):
                                self.begunAgain.add(1, ordering: .relaxed)
                                guard isRepeated else { throw MetOthers() }
                                return pause
                            }
                        } catch {
                            continuation.resume(throwing: error)
                        }
                        return nil
                    },
                    refuse: { continuation.resume(throwing: $0) }, retries: retries))
        }
    }
}
