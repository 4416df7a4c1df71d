import Foundation
import Synchronization

/// A store on a server that speaks PostgreSQL's protocol, shared by any number of nodes.
///
/// A body that writes runs under `SERIALIZABLE` and is run again, whole, where the server took it back because of
/// others, or where its connection was lost before the commit was asked for. Statements of ``share(_:)`` need less. Reads have connections of their own, so
/// that a crowd of writers does not keep a node from seeing what changed.
package final class PostgreSQLDatabase: Database {
    private let writers: PostgreSQLWorkers
    private let readers: PostgreSQLWorkers
    private let watching: PostgreSQLWorkers
    private let beating: PostgreSQLWorkers
    private let administration: PostgreSQLWorkers
    let timeouts: PostgreSQLTimeouts
    let clock: (@Sendable () -> Date)?
    private let stamp = Atomic<Int64>(0)
    private let begunAgain = Atomic<Int>(0)
    let sharing = PostgreSQLSharing()
    let turns = PostgreSQLTurns()
    let followed = FollowedTimeline()
    let reach = PostgreSQLReach()

    /// Names the store; the first body connects.
    ///
    /// - Parameters:
    ///   - address: where the server is.
    ///   - clock: what `Transaction.now` is taken from instead of the server's clock.
    ///   - lanes: how many connections each lane has, where the address does not say it.
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
        watching = PostgreSQLWorkers(
            address, timeouts: timeouts, limit: 1, isReadOnly: true, reach: LaneReach(reach: reach, triesAgain: true))
        beating = PostgreSQLWorkers(address, timeouts: timeouts.ofHeartbeats, limit: Heartbeat.mostUnderWay)
    }

    /// Runs a body that cannot write, over one snapshot.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    package func read<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.read, on: readers, body)
    }

    /// Runs a body like ``read(_:)`` on a connection of its lane.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    package func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.read, on: lane == .administration ? administration : readers, body)
    }

    /// Runs a body like ``read(_:)`` on a connection of its own.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    package func readReserved<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.read, on: watching, body)
    }

    /// Runs a body in a transaction of its own.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`; `outcomeUnknown` where the connection was lost during the
    ///   commit, or the server did not wait for its standby.
    @discardableResult
    package func write<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.write, on: writers, body)
    }

    /// Runs a body like ``write(_:)`` on a connection of its lane.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    @discardableResult
    package func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.write, on: lane == .administration ? administration : writers, body)
    }

    /// Runs a body that changes the schema, without any time-out.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    @discardableResult
    package func alter<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.alter, on: writers, body)
    }

    /// The rows of one statement, which the server carries out without `BEGIN` and `COMMIT`: one wait, and half of the
    /// server's work for a look-up by key.
    ///
    /// - Throws: `StoreError`.
    package func query(_ sql: String, _ arguments: [Value]) async throws -> [Row] {
        try await run(.statement, on: readers) { try $0.query(sql, arguments) }
    }

    /// Like ``query(_:_:)``, on the connection that watches.
    func ask(_ sql: String, _ arguments: [Value]) async throws -> [Row] {
        try await run(.statement, on: watching) { try $0.query(sql, arguments) }
    }

    /// Runs a body under `READ COMMITTED` that gives up soon where others hold a lock.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    @discardableResult
    package func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.maintain, on: writers, body)
    }

    /// Runs a body like ``maintain(_:)``, past those who wait to write.
    func maintainAtOnce<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await run(.maintain, on: administration, body)
    }

    /// Runs a body like ``maintain(_:)``, on a connection of those that tell whether commits come through.
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

    /// Carries out statements under `READ COMMITTED` and commits, in one exchange.
    ///
    /// - Returns: the rows of each.
    func conclude(_ parts: [PostgreSQLConnection.Part]) async throws -> [[Row]] {
        try await run(.share, on: writers) { try $0.conclude(parts) }
    }

    /// A new number each time: the server keeps none that says who committed, so that whoever asks is to look.
    ///
    /// - Throws: `StoreError.unavailable` for a closed store; an absent server is noticed by the look.
    package func changeStamp() throws -> Int64 {
        guard !writers.isClosed else { throw StoreError.closed }
        return stamp.add(1, ordering: .relaxed).newValue
    }

    /// Asks the server for an answer.
    ///
    /// - Throws: `StoreError.unavailable`.
    package func check() async throws {
        _ = try await read { try $0.first("SELECT 1") }
    }

    /// How often transactions waited for the server so far: what a node far from it pays for.
    package var exchanges: Int {
        writers.exchanges + readers.exchanges + watching.exchanges + administration.exchanges
            + beating.exchanges
    }

    /// How often a transaction was taken back because of others so far, and begun again.
    package var repetitions: Int { begunAgain.load(ordering: .relaxed) }

    /// How many other sessions of this service, its nodes and commands, the database has at this moment.
    ///
    /// - Throws: `StoreError`.
    package func countOtherSessions() async throws -> Int {
        try await read { transaction in
            let row = try transaction.first(
                """
                SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database()
                AND usename = current_user AND application_name = 'countersign' AND pid <> pg_backend_pid()
                """)
            return Int(try row?.integer(0) ?? 0)
        }
    }

    /// Finishes what is in line and lets every connection go.
    package func close() async throws {
        await beating.close()
        await watching.close()
        await readers.close()
        await administration.close()
        await writers.close()
    }

    /// Runs a body under `SERIALIZABLE` whose snapshot is of after those who had its turn before.
    func runInTurn<T: Sendable>(
        _ turn: Turn, _ body: @Sendable @escaping (PostgreSQLTransaction) throws -> T
    ) async throws -> T {
        try await run(.write, turn: turn.lock, on: writers, body)
    }

    /// Runs a body like ``write(_:)``, once.
    ///
    /// - Throws: `MetOthers` if it was taken back because of others, too.
    func writeUnlessMet<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let clock = clock
        return try await submit(PostgreSQLRetries(.write, timeouts), to: writers, isRepeated: false) {
            session, retries in
            try session.transact(.write, clock: clock, &retries, nil, body)
        }
    }

    private func run<T: Sendable>(
        _ kind: PostgreSQLTransaction.Kind, turn: Int64? = nil, on workers: PostgreSQLWorkers,
        _ body: @Sendable @escaping (PostgreSQLTransaction) throws -> T
    ) async throws -> T {
        let clock = clock
        // A read is of no use to a caller who gave up. A write is: its outcome is to be known.
        let cancellation = kind.isWriting ? nil : PostgreSQLCancellation()
        return try await withTaskCancellationHandler {
            try await submit(PostgreSQLRetries(kind, timeouts), to: workers) { session, retries in
                try session.transact(kind, turn: turn, clock: clock, &retries, cancellation, body)
            }
        } onCancel: {
            cancellation?.cancel()
        }
    }

    /// Runs a command outside every transaction.
    func carryOut(_ command: String) async throws {
        try await submit(PostgreSQLRetries(.alter, timeouts), to: writers) { session, _ in
            try session.carryOut(command)
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
