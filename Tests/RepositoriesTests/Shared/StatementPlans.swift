import Database
import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Repositories

/// The statements of a test, and how the engine would carry them out: none may walk a whole table that grows.
///
/// An engine that has few rows would rather walk them. PostgreSQL is told not to, so that it walks a table only for
/// want of an index; SQLite without statistics takes every index that fits.
final class StatementPlans: Sendable {
    private let kind: StoreKind
    private let statements = Mutex<[String: [Value]]>([:])

    /// The tables that must not be walked, by the migrations, and the partial indexes. A walk over one of these is a walk
    /// over what waits, which is what it is for.
    private static let (growing, partialIndexes) = {
        var (tables, indexes) = (Set<String>(), Set<String>())
        for statement in Schema.migrations.flatMap(\.statements) {
            let words = statement.split(whereSeparator: \.isWhitespace).map(String.init)
            if words.starts(with: ["CREATE", "TABLE"]) { tables.insert(words[2]) }
            if words[0] == "CREATE", let place = words.firstIndex(of: "INDEX"), words.contains("WHERE") {
                indexes.insert(words[place + 1])
            }
        }
        return (tables.subtracting(AllowedScan.small), indexes)
    }()

    init(_ kind: StoreKind) { self.kind = kind }

    private var isPostgreSQL: Bool { kind.description == StoreKind.postgresql.description }

    /// The same transaction, whose statements are noted.
    func recording(_ transaction: any Transaction) -> any Transaction {
        Recording(inner: transaction, plans: self)
    }

    fileprivate func note(_ sql: String, _ arguments: [Value]) {
        statements.withLock { $0[sql] = arguments }
    }

    /// Fails for each statement that walks a table, but for those of ``AllowedScan``.
    func requireNoScan(_ store: any Database) async throws {
        for (sql, arguments) in statements.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            let text = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            guard !AllowedScan.all.contains(where: { text.contains($0.part) }) else { continue }
            let found = try await walks(sql, arguments, in: store)
            #expect(found.isEmpty, "\(kind) in \(text)")
            // Conditions on generations are expected to find next to nothing, so an order's index is not used.
            let conditions = Self.conditions(of: text)
            let isOfFew = ["device_id = $", "user_id = $"].contains { conditions.contains($0) }
            let isPage = conditions.contains("ORDER BY") && conditions.contains("LIMIT") && !isOfFew
            #expect(!(isPage && conditions.contains("g.generation FROM")), "\(kind) sorts in \(text)")
        }
    }

    /// What follows the table in a statement that reads sessions.
    private static func conditions(of text: String) -> Substring {
        guard text.hasPrefix("SELECT"), let range = text.range(of: " FROM sessions ") else { return "" }
        let columns = text[..<range.lowerBound]
        // Elsewhere it is a statement within another one.
        return columns.count { $0 == "(" } == columns.count { $0 == ")" } ? text[range.upperBound...] : ""
    }

    /// The plans of the statements that a body has.
    func plans(
        of body: @Sendable @escaping (any Transaction) throws -> Void, in store: any Database
    ) async throws -> [[String]] {
        let own = StatementPlans(kind)
        try await store.read { try body(own.recording($0)) }
        var found: [[String]] = []
        for (sql, arguments) in own.statements.withLock({ $0 }) {
            found.append(try await plan(of: sql, arguments, in: store))
        }
        return found
    }

    /// The steps of a statement's plan that walk a table.
    func walks(_ sql: String, _ arguments: [Value], in store: any Database) async throws -> [String] {
        let lines = try await plan(of: sql, arguments, in: store)
        return isPostgreSQL ? Self.walks(postgreSQL: lines) : Self.walks(sqlite: lines, sql)
    }

    /// The engine's plan, a line for each step.
    func plan(of sql: String, _ arguments: [Value], in store: any Database) async throws -> [String] {
        try await store.write { [isPostgreSQL] transaction in
            guard isPostgreSQL else {
                let steps = ColumnTuple(
                    Column<Int>("id"), Column<Int>("parent"), Column<Int>("notused"), Column<String>("detail"))
                return try transaction.query("EXPLAIN QUERY PLAN " + sql, arguments).map { try steps.read($0).3 }
            }
            try transaction.execute("SET LOCAL enable_seqscan = off")
            return try transaction.values("EXPLAIN " + sql, arguments)
        }
    }

    /// `SCAN t` is a walk, by the table or by an index.
    private static func walks(sqlite lines: [String], _ sql: String) -> [String] {
        let tables = aliases(in: sql)
        return lines.filter { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 1, words[0] == "SCAN", let table = tables[words[1]] else { return false }
            return growing.contains(table) && !words.contains(where: partialIndexes.contains)
        }
    }

    /// A node that reads a table without a condition on an index is a walk, unless a limit stops it at its first rows.
    private static func walks(postgreSQL lines: [String]) -> [String] {
        var found: [String] = []
        let pattern = #"(Seq Scan|Index Scan|Index Only Scan)[^(]* on \w+"#
        for (place, line) in lines.enumerated() {
            guard let range = line.range(of: pattern, options: .regularExpression) else { continue }
            let node = String(line[range])
            let words = node.split(separator: " ").map(String.init)
            let details = lines[(place + 1)...].prefix { !$0.contains("->") }
            let isFirstRow =
                place > 0 && lines[place - 1].contains("Limit  (") && words.first == "Index"
                && !details.contains { $0.contains("Filter:") }
            let isBounded =
                isFirstRow || details.contains { $0.contains("Index Cond:") }
                || words.contains(where: partialIndexes.contains)
            if !isBounded, words.last.map(growing.contains) == true { found.append(node) }
        }
        return found
    }

    /// Tables by the names that a statement calls them.
    private static func aliases(in sql: String) -> [String: String] {
        var names: [String: String] = [:]
        let words = sql.split(whereSeparator: { $0.isWhitespace || "(),".contains($0) }).map(String.init)
        for (place, word) in words.enumerated() where ["FROM", "JOIN", "UPDATE", "INTO"].contains(word) {
            guard place + 1 < words.count else { continue }
            let table = words[place + 1]
            names[table] = table
            let next = words[(place + 2)...].first { $0 != "AS" } ?? ""
            if next == next.lowercased() { names[next] = table }
        }
        return names
    }
}

private struct Recording: Transaction {
    let inner: any Transaction
    let plans: StatementPlans

    var now: Date { inner.now }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        plans.note(sql, arguments)
        return try inner.query(sql, arguments)
    }

    func first(_ sql: String, _ arguments: [Value]) throws -> Row? {
        plans.note(sql, arguments)
        return try inner.first(sql, arguments)
    }

    func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        plans.note(sql, arguments)
        return try inner.execute(sql, arguments)
    }

    func enqueue(_ sql: String, _ arguments: [Value]) throws {
        plans.note(sql, arguments)
        try inner.enqueue(sql, arguments)
    }

    func appendChange(kind: Int, key: [UInt8]) throws {
        try inner.appendChange(kind: kind, key: key)
    }
}
