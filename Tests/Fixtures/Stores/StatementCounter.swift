import Database
import Foundation
import Synchronization

/// A store that counts what is read and written through it.
package final class StatementCounter: Database {
    package struct Counts: Equatable {
        package fileprivate(set) var statements = 0
        /// Statements of the bodies that only read.
        package fileprivate(set) var reads = 0
        /// Rows that were inserted, updated or deleted.
        package fileprivate(set) var rows = 0

        package init() {}
    }

    private let store: any Database
    private let state = Mutex(Counts())
    private let reads = Mutex(0)

    package init(_ store: any Database) { self.store = store }

    /// How many bodies have read since this was asked last.
    package func takeReads() -> Int {
        reads.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    /// What was done since this was asked last.
    package func take() -> Counts {
        state.withLock { counts in
            defer { counts = Counts() }
            return counts
        }
    }

    private func note(_ rows: Int, isReading: Bool) {
        state.withLock { counts in
            if isReading { counts.reads += 1 } else { counts.statements += 1 }
            counts.rows += rows
        }
    }

    private struct Counted: Transaction {
        let inner: any Transaction
        let counter: StatementCounter
        var isReading = false

        private func note(_ rows: Int) { counter.note(rows, isReading: isReading) }

        var now: Date { inner.now }

        func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
            let rows = try inner.query(sql, arguments)
            note(sql.hasPrefix("SELECT") ? 0 : rows.count)
            return rows
        }

        func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
            let row = try inner.first(sql, arguments)
            note(sql.hasPrefix("SELECT") || row == nil ? 0 : 1)
            return row
        }

        func queries(_ questions: [(sql: String, arguments: [Value])]) throws -> [[Row]] {
            let rows = try inner.queries(questions)
            // Up to 24 are one statement.
            for _ in stride(from: 0, to: questions.count, by: 24) { note(0) }
            return rows
        }

        func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
            let count = try inner.execute(sql, arguments)
            note(count)
            return count
        }

        func enqueue(_ sql: String, _ arguments: [Value]) throws { _ = try execute(sql, arguments) }
        func createChangeLog() throws { try inner.createChangeLog() }

        func appendChange(kind: Int, key: [UInt8]) throws {
            try inner.appendChange(kind: kind, key: key)
            note(1)
        }
    }

    package func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        reads.withLock { $0 += 1 }
        return try await store.read { try body(Counted(inner: $0, counter: self, isReading: true)) }
    }

    package func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.write { try body(Counted(inner: $0, counter: self)) }
    }

    package func tables() async throws -> [TableShape] { try await store.tables() }
    package func changeStamp() throws -> Int64 { try store.changeStamp() }
    package func changePosition() async throws -> ChangePosition { try await store.changePosition() }

    package func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        try await store.changes(after: position, limit: limit)
    }

    package func check() async throws { try await store.check() }
    package func close() async throws {}
}
