import Foundation
import Synchronization

/// A queue of statements that are executed together. Those that arrive during a batch form the next one, in one
/// transaction and one exchange with the server.
final class PostgreSQLSharing: Sendable {
    struct Pending: Sendable {
        let statement: SharedStatement
        let continuation: CheckedContinuation<[Row], any Error>
    }

    private struct State {
        var line = FIFOQueue<Pending>()
        var underWay = 0
    }

    /// The maximum size of a batch. Its responses fit into the buffers of a connection.
    static let maximum = 64
    /// The number of concurrent transactions. While one waits for the disk another can run, and one that waits for a
    /// lock does not block the queue.
    static let transactions = 2

    private let state = Mutex(State())

    var waiting: Int { state.withLock { $0.line.count } }

    /// Appends a statement to the queue.
    ///
    /// - Returns: whether the caller must start a batch, by ``next()``.
    /// - Throws: `StoreError.unavailable` if the queue is full.
    func append(_ pending: Pending) throws(StoreError) -> Bool {
        let isFirst = state.withLock { state -> Bool? in
            guard state.line.append(pending) else { return nil }
            guard state.underWay < Self.transactions else { return false }
            state.underWay += 1
            return true
        }
        guard let isFirst else { throw .unavailable(reason: "too many callers wait") }
        return isFirst
    }

    /// The next batch; `nil` if the queue is empty, and the caller is done.
    func next() -> [Pending]? {
        state.withLock { state in
            let batch = state.line.take(atMost: Self.maximum)
            guard batch.isEmpty else {
                return batch.sorted { $0.statement.changedKey < $1.statement.changedKey }
            }
            state.underWay -= 1
            return nil
        }
    }
}

package extension PostgreSQLDatabase {
    /// Executes a statement in one transaction with others of its kind. It returns no rows if it changed nothing, or if
    /// another statement of the batch has its key. Then the caller checks again.
    ///
    /// - Throws: `StoreError`. An error of another statement does not fail this one.
    func share(_ statement: SharedStatement) async throws -> [Row] {
        try await withCheckedThrowingContinuation { continuation in
            do throws(StoreError) {
                guard try sharing.append(.init(statement: statement, continuation: continuation)) else { return }
            } catch {
                return continuation.resume(throwing: error)
            }
            // A caller may be cancelled. The other callers of the batch continue.
            Task { await carryOutShared() }
        }
    }

    private func carryOutShared() async {
        while let batch = sharing.next() {
            do {
                let answers = try await shared(batch.map(\.statement))
                for (pending, rows) in zip(batch, answers) { pending.continuation.resume(returning: rows) }
            } catch let error as StoreError where batch.count > 1 && error.isOfOneStatement {
                await carryOutApart(batch)
            } catch {
                for pending in batch { pending.continuation.resume(throwing: error) }
            }
        }
    }

    /// Executes the statements concurrently, so that one that waits for a lock does not delay the others.
    private func carryOutApart(_ batch: [PostgreSQLSharing.Pending]) async {
        await withTaskGroup(of: Void.self) { tasks in
            for pending in batch {
                tasks.addTask {
                    do {
                        let rows = try await self.shared([pending.statement]).first ?? []
                        pending.continuation.resume(returning: rows)
                    } catch {
                        pending.continuation.resume(throwing: error)
                    }
                }
            }
        }
    }

    /// Executes statements in one transaction. Statements with a common text are executed at once if the text has such
    /// forms.
    ///
    /// - Returns: the rows of each.
    private func shared(_ statements: [SharedStatement]) async throws -> [[Row]] {
        let now = clock?()
        var parts: [PostgreSQLConnection.Part] = []
        var places: [[Int]] = []
        let first = Self.first(of: statements)
        // Statements on existing rows come last. Inserting an existing key waits for a pending change of its row. Since
        // the changing transaction then has nothing left to insert, the two cannot wait for each other.
        for isOfRows in [false, true] {
            var left = first.filter { (statements[$0].text.change != nil) == isOfRows }[...]
            while let next = left.first {
                let text = statements[next].text
                let alike = left.prefix { statements[$0].text === text }
                guard let form = text.forms.first(where: { $0.count <= alike.count }) else { break }
                let taken = alike.prefix(form.count)
                parts.append(
                    .statement(
                        now == nil ? form.asked : form.given,
                        text.arguments(of: taken.map { statements[$0] }[...], after: places.joined().count, at: now)))
                places.append(Array(taken))
                left = left.dropFirst(taken.count)
            }
        }
        var answers = [[Row]](repeating: [], count: statements.count)
        for (places, rows) in zip(places, try await conclude(parts)) {
            guard places.count > 1 else {
                if let place = places.first { answers[place] = rows }
                continue
            }
            let rowsByKey = try Dictionary(rows.map { (try $0.text(0), $0) }, uniquingKeysWith: { first, _ in first })
            for place in places { answers[place] = rowsByKey[statements[place].key].map { [$0] } ?? [] }
        }
        return answers
    }

    /// The statements to execute. Of two statements with the same key only the first is executed: the second would take
    /// its lock out of order, and its result would be that of the first.
    private static func first(of statements: [SharedStatement]) -> [Int] {
        struct Change: Hashable {
            let text: ObjectIdentifier
            let key: String
        }
        var seen: Set<Change> = []
        return statements.indices.filter { index in
            let statement = statements[index]
            return statement.text.forms.count == 1
                || seen.insert(Change(text: ObjectIdentifier(statement.text), key: statement.key)).inserted
        }
    }
}

extension StoreError {
    /// Whether the error concerns one statement, so the rest of the batch can be retried.
    fileprivate var isOfOneStatement: Bool {
        switch self {
        case .constraint, .statement, .column: true
        // It waited too long for a lock, exceeded its time limit, or was part of a deadlock.
        case .unavailable(let reason): ["55P03", "57014", "40P01"].contains { reason.contains("SQLSTATE \($0)") }
        default: false
        }
    }
}
