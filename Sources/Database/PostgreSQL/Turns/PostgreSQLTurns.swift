import Foundation
import Synchronization

/// The active turns, and a queue of waiting bodies for each.
///
/// A turn is active for some seconds after its bodies conflicted, and as long as it has a queue. Bodies that arrive
/// meanwhile form the next batch, in one transaction. A node thus has one transaction of a turn at a time, and the
/// server commits once for the batch.
final class PostgreSQLTurns: Sendable {
    struct Pending: Sendable {
        /// Runs the body, alone in its transaction or not. The returned closure completes its call after the commit.
        let run: @Sendable (PostgreSQLTransaction, _ isAlone: Bool) throws -> @Sendable () -> Void
        /// Reports to the caller that nothing was kept, or another failure of the transaction.
        let refuse: @Sendable (any Error) -> Void
        private let since = ContinuousClock.now

        init<T: Sendable>(
            _ body: @Sendable @escaping (any Transaction) throws -> T, _ continuation: CheckedContinuation<T, any Error>
        ) {
            run = { transaction, isAlone in
                let result = try isAlone ? .success(body(transaction)) : transaction.runApart(body)
                return { continuation.resume(with: result) }
            }
            refuse = { continuation.resume(throwing: $0) }
        }

        func hasWaited(_ seconds: TimeInterval) -> Bool { ContinuousClock.now - since >= .seconds(seconds) }
    }

    /// The maximum size of a batch. After a rollback all of it is repeated, and its rows stay locked until its end.
    static let maximum = 16

    /// How long a turn stays active after a conflict.
    static let memory: Duration = .seconds(10)

    private struct State {
        /// A queue exists as long as a task serves it.
        var lines: [Turn: FIFOQueue<Pending>] = [:]
        /// The times of the last conflicts.
        var meetings: [Turn: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// Whether a body must wait for its turn.
    func isTaken(_ turn: Turn) -> Bool {
        state.withLock { state in
            state.lines[turn] != nil || state.meetings[turn].map { ContinuousClock.now - $0 < Self.memory } ?? false
        }
    }

    /// Records a conflict, or one that is likely.
    func noteMeeting(about turn: Turn) {
        state.withLock { state in
            let now = ContinuousClock.now
            state.meetings = state.meetings.filter { now - $0.value < Self.memory }
            state.meetings[turn] = now
        }
    }

    /// Appends a body to the queue.
    ///
    /// - Returns: whether the caller must serve the queue, by ``next(of:)``.
    /// - Throws: `StoreError.unavailable` if the queue is full.
    func append(_ pending: Pending, to turn: Turn) throws(StoreError) -> Bool {
        let (isIn, isFirst) = state.withLock { state in
            let isFirst = state.lines[turn] == nil
            return (state.lines[turn, default: FIFOQueue()].append(pending), isFirst)
        }
        guard isIn else { throw .unavailable(reason: "too many writers wait") }
        return isFirst
    }

    /// The next batch; `nil` if the queue is empty, and the caller is done.
    func next(of turn: Turn) -> [Pending]? {
        let batch = state.withLock { state in
            let batch = state.lines[turn]?.take(atMost: Self.maximum) ?? []
            if batch.isEmpty { state.lines[turn] = nil }
            return batch
        }
        if batch.count > 1 { noteMeeting(about: turn) }
        return batch.isEmpty ? nil : batch
    }

    /// Takes the lock of a turn in a separate transaction. The snapshot of the next transaction is then taken after the
    /// transactions that had the lock before.
    static func take(_ turn: Int64?) -> [PostgreSQLConnection.Part] {
        guard let turn else { return [] }
        return [
            .command("BEGIN ISOLATION LEVEL READ COMMITTED"), .command("SET LOCAL lock_timeout = 1000"),
            .statement("SELECT pg_advisory_lock($1)", [.integer(turn)]), .command("COMMIT"),
        ]
    }

    static func release(_ turn: Int64) -> PostgreSQLConnection.Part {
        .statement("SELECT pg_advisory_unlock($1)", [.integer(turn)])
    }

    func waiting(for turn: Turn) -> Int { state.withLock { $0.lines[turn]?.count ?? 0 } }
}

/// A transaction was rolled back because of other transactions.
struct MetOthers: Error {}

package extension PostgreSQLDatabase {
    func isActive(_ turn: Turn) -> Bool { turns.isTaken(turn) }

    /// Runs a body like ``write(_:)`` unless its turn is active. Then all bodies of the turn run one after another on
    /// every node, and waiting bodies of one node share a transaction. A failed body does not fail others.
    ///
    /// - Throws: the body's error, or a `StoreError`.
    @discardableResult
    func write<T: Sendable>(
        inTurn turn: Turn, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        if !turns.isTaken(turn) {
            do {
                return try await writeUnlessMet(body)
            } catch is MetOthers {
                turns.noteMeeting(about: turn)
            }
        }
        return try await writeBehindOthers(of: turn, body)
    }

    private func writeBehindOthers<T: Sendable>(
        of turn: Turn, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            do throws(StoreError) {
                guard try turns.append(PostgreSQLTurns.Pending(body, continuation), to: turn) else { return }
            } catch {
                return continuation.resume(throwing: error)
            }
            // A caller may be cancelled. The other callers of the batch continue.
            Task {
                while let batch = turns.next(of: turn) { await carryOut(batch, in: turn) }
            }
        }
    }

    private func carryOut(_ batch: [PostgreSQLTurns.Pending], in turn: Turn) async {
        var inTime: [PostgreSQLTurns.Pending] = []
        for pending in batch {
            if pending.hasWaited(timeouts.statement) {
                pending.refuse(StoreError.unavailable(reason: "its turn did not come in time"))
            } else {
                inTime.append(pending)
            }
        }
        guard !inTime.isEmpty else { return }
        let all = inTime
        do {
            let answers = try await runInTurn(turn) { transaction in
                try all.map { try $0.run(transaction, all.count == 1) }
            }
            for answer in answers { answer() }
        } catch {
            for pending in all { pending.refuse(error) }
        }
    }
}

extension PostgreSQLTransaction {
    /// Runs a body whose failure rolls back its own changes, and no earlier ones.
    ///
    /// - Throws: an error that ends the whole transaction.
    func runApart<T>(_ body: (any Transaction) throws -> T) throws -> Result<T, any Error> {
        beginApart()
        let result = Result { try body(self) }
        if failure == nil, case .success = result {
            // Enqueued statements are executed now, so that a failure is attributed to this body.
            try? keepApart()
            if failure == nil { return result }
        }
        switch failure {
        case nil:
            try takeBackApart()
            return result
        case .refused(let error), .locked(let error):
            try takeBackApart()
            return .failure(error)
        case .conflict(let error), .lost(let error), .missedTurn(let error), .outcomeUnknown(let error):
            throw error
        }
    }
}
