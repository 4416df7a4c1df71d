import Foundation
import Synchronization

/// Statements that wait to be carried out together: those that come while some are under way go as the next, in one
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

    /// How many go together: an answer to all of them fits into the buffers of a connection.
    static let maximum = 64
    /// How many transactions at a time. While one waits for the disk another one is carried out, and one that waits for a
    /// stranger's lock does not keep everybody.
    static let transactions = 2

    private let state = Mutex(State())

    /// How many are in line.
    var waiting: Int { state.withLock { $0.line.count } }

    /// Puts a statement in line.
    ///
    /// - Returns: whether the caller is to see that it is carried out, by ``next()``.
    /// - Throws: `StoreError.unavailable` if the line is full.
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

    /// Those to go next; `nil` if there is none, and whoever asked is done.
    func next() -> [Pending]? {
        state.withLock { state in
            let batch = state.line.take(atMost: Self.maximum)
            guard batch.isEmpty else {
                // In one order everywhere no two transactions wait for each other's rows.
                return batch.sorted { $0.statement.key < $1.statement.key }
            }
            state.underWay -= 1
            return nil
        }
    }
}

extension PostgreSQLDatabase {
    /// Carries out a statement in one transaction with others of its kind. It has no rows if it changed nothing, or if
    /// another one with its key goes in the same transaction: then whoever asks looks again.
    ///
    /// - Throws: `StoreError`; what another one did wrong fails that one alone.
    package func share(_ statement: SharedStatement) async throws -> [Row] {
        try await withCheckedThrowingContinuation { continuation in
            do throws(StoreError) {
                guard try sharing.append(.init(statement: statement, continuation: continuation)) else { return }
            } catch {
                return continuation.resume(throwing: error)
            }
            // Whoever waits for an answer may give up; the others go on.
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

    /// All at once, so that one that waits for a lock keeps no other of them.
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

    /// Carries out statements in one transaction, those of one text at once as far as it has forms for that.
    ///
    /// - Returns: the rows of each.
    private func shared(_ statements: [SharedStatement]) async throws -> [[Row]] {
        let now = clock?()
        var parts: [PostgreSQLConnection.Part] = []
        var places: [[Int]] = []
        let first = Self.first(of: statements)
        // Those of rows that are there come last. A key that is used again waits for a change of its row that is under
        // way; whoever changes one then has nothing more to insert, and waits for no such key.
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

    /// Those to be carried out: of two in one batch with one key the second changes nothing. It would take its lock out
    /// of order, and the answer's row would be the first one's.
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
    /// Whether what is wrong is one statement, and those that went with it may be carried out without it.
    fileprivate var isOfOneStatement: Bool {
        switch self {
        case .constraint, .statement, .column: true
        // A lock, or its time, was waited for too long, or crosswise.
        case .unavailable(let reason): ["55P03", "57014", "40P01"].contains { reason.contains("SQLSTATE \($0)") }
        default: false
        }
    }
}

extension SharedStatement {
    /// The first argument.
    fileprivate var key: String {
        guard case .text(let key) = arguments.first else { return "" }
        return key
    }
}
