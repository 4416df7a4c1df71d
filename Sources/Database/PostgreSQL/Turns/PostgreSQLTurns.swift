import Foundation
import Synchronization

/// Which turns are taken, and the bodies that wait for theirs, in a line for each.
///
/// A turn is taken for some seconds after others were in the way of somebody who has it, and as long as there is a line.
/// Those that come while some are under way go together as the next, in one transaction: a node then has one transaction of
/// a turn, and its server commits once for all of them.
final class PostgreSQLTurns: Sendable {
    /// A body that waits.
    struct Pending: Sendable {
        /// Runs the body, alone in its transaction or not; what it gives answers the caller once that is committed.
        let run: @Sendable (PostgreSQLTransaction, _ isAlone: Bool) throws -> @Sendable () -> Void
        /// Tells the caller that nothing of it was kept, or what else became of the transaction.
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

    /// How many go together: what is taken back is done again for all of them, and their rows are locked till the end.
    static let maximum = 16

    /// How long a turn is taken after others were in the way.
    static let memory: Duration = .seconds(10)

    private struct State {
        /// A line is there as long as somebody sees to it.
        var lines: [Turn: FIFOQueue<Pending>] = [:]
        /// When others were in the way last.
        var meetings: [Turn: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// Whether a body has to wait for its turn.
    func isTaken(_ turn: Turn) -> Bool {
        state.withLock { state in
            state.lines[turn] != nil || state.meetings[turn].map { ContinuousClock.now - $0 < Self.memory } ?? false
        }
    }

    /// Notes that others were in the way, or would be.
    func noteMeeting(about turn: Turn) {
        state.withLock { state in
            let now = ContinuousClock.now
            state.meetings = state.meetings.filter { now - $0.value < Self.memory }
            state.meetings[turn] = now
        }
    }

    /// Puts a body in line.
    ///
    /// - Returns: whether the caller is to see that the line is carried out, by ``next(of:)``.
    /// - Throws: `StoreError.unavailable` if the line is full.
    func append(_ pending: Pending, to turn: Turn) throws(StoreError) -> Bool {
        let (isIn, isFirst) = state.withLock { state in
            let isFirst = state.lines[turn] == nil
            return (state.lines[turn, default: FIFOQueue()].append(pending), isFirst)
        }
        guard isIn else { throw .unavailable(reason: "too many writers wait") }
        return isFirst
    }

    /// Those to go next; `nil` if there is none, and whoever asked is done.
    func next(of turn: Turn) -> [Pending]? {
        let batch = state.withLock { state in
            let batch = state.lines[turn]?.take(atMost: Self.maximum) ?? []
            if batch.isEmpty { state.lines[turn] = nil }
            return batch
        }
        if batch.count > 1 { noteMeeting(about: turn) }
        return batch.isEmpty ? nil : batch
    }

    /// Takes the lock of a turn, in a transaction of its own: the snapshot of the one behind it is then of after those who
    /// had the turn before.
    static func take(_ turn: Int64?) -> [PostgreSQLConnection.Part] {
        guard let turn else { return [] }
        return [
            .command("BEGIN ISOLATION LEVEL READ COMMITTED"), .command("SET LOCAL lock_timeout = 1000"),
            .statement("SELECT pg_advisory_lock($1)", [.integer(turn)]), .command("COMMIT"),
        ]
    }

    /// Gives it back.
    static func release(_ turn: Int64) -> PostgreSQLConnection.Part {
        .statement("SELECT pg_advisory_unlock($1)", [.integer(turn)])
    }

    /// How many wait for a turn.
    func waiting(for turn: Turn) -> Int { state.withLock { $0.lines[turn]?.count ?? 0 } }
}

/// A transaction was taken back because of others.
struct MetOthers: Error {}

extension PostgreSQLDatabase {
    /// Runs a body like ``write(_:)`` as long as others are not in its way. Then it goes one behind the other with all of its
    /// turn on every node, and in one transaction with those that wait beside it here. One that fails takes no other with it.
    ///
    /// - Throws: whatever the body throws, or a `StoreError`.
    @discardableResult
    package func write<T: Sendable>(
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
            // Whoever waits for an answer may give up; the others go on.
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
    /// Runs a body whose failure takes back what it wrote itself, and nothing of those before it.
    ///
    /// - Throws: what ends the whole transaction.
    func runApart<T>(_ body: (any Transaction) throws -> T) throws -> Result<T, any Error> {
        beginApart()
        let result = Result { try body(self) }
        if failure == nil, case .success = result {
            // What it put off is carried out now, so that a mistake is its own.
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
