import Database
import Fixtures
import Foundation
import Testing

@Suite("Queries in one statement")
struct JoinedQueriesTests {
    private typealias Query = (sql: String, arguments: [Value])

    /// Queries of all kinds: ordered, limited, without rows, with columns of one name, and of all types.
    private static let queries: [Query] = [
        ("SELECT id, label, amount, payload, flag FROM things WHERE id >= $1 ORDER BY id DESC", [2]),
        ("SELECT id FROM things WHERE id = $1", [999]),
        ("SELECT COUNT(*), COUNT(*) FROM things", []),
        ("SELECT a.id, b.id, NULL, '$1', 0 FROM things a JOIN things b ON b.id = a.id ORDER BY a.label LIMIT $1", [3]),
        ("SELECT label FROM things WHERE id = $2 AND label = $1", ["thing 4", 4]),
        ("SELECT id FROM things WHERE id = 1 UNION ALL SELECT id FROM things WHERE id = $1", [5]),
        ("SELECT NULL, 0, 1, NULL FROM things WHERE id = 1", []),
        ("SELECT MAX(id) FROM things WHERE id > $1", [999]),
    ]

    private static func fill(_ store: any Database) async throws {
        try await store.write { transaction in
            for id in 1...6 {
                try transaction.execute(
                    "INSERT INTO things VALUES ($1, $2, $3, $4, $5)",
                    [
                        .integer(Int64(id)), .text("thing \(id)"), .real(Double(id)),
                        id.isMultiple(of: 2) ? .null : .bytes([UInt8(id)]), 0,
                    ])
            }
        }
    }

    @Test("have the rows that each has alone, in its order", arguments: StoreKind.all)
    func rows(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [StatementTests.things]) { store in
            try await Self.fill(store)
            try await store.read { transaction in
                // More of them than one statement takes.
                let many = (0..<4).flatMap { _ in Self.queries }
                for count in [0, 1, 2, 8, 24, 25, many.count] {
                    let some = Array(many.prefix(count))
                    let alone = try some.map { try transaction.query($0.sql, $0.arguments) }
                    #expect(try transaction.queries(some) == alone, "\(count) queries")
                }
            }
        }
    }

    @Test("need one statement, and one more for a query that depends on their rows", arguments: StoreKind.all)
    func statements(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [StatementTests.things]) { store in
            try await Self.fill(store)
            let counter = StatementCounter(store)
            let (sum, last) = try await counter.read { transaction in
                try transaction.joined { inner in
                    let first = try inner.first("SELECT id FROM things WHERE id = 2", [])?.integer(0) ?? 0
                    let others = try inner.query("SELECT id FROM things WHERE id > $1 ORDER BY id", [4])
                    // Without rows it is not asked.
                    let last = try others.last.map {
                        try inner.first("SELECT label FROM things WHERE id = $1", $0.values)?.text(0)
                    }
                    return (try others.map { try $0.integer(0) }.reduce(first, +), last)
                }
            }
            #expect(sum == 2 + 5 + 6)
            #expect(last == "thing 6")
            #expect(counter.take().reads == 2)
        }
    }

    @Test("are forgotten by a write, and what a body throws without rows is not its error", arguments: StoreKind.all)
    func writes(kind: StoreKind) async throws {
        struct Missing: Error {}
        try await withStore(kind, migrations: [StatementTests.things]) { store in
            try await Self.fill(store)
            let counts = try await store.write { transaction in
                try transaction.joined { inner in
                    guard let before = try inner.first("SELECT COUNT(*) FROM things WHERE id > $1", [0]) else {
                        throw Missing()
                    }
                    try inner.execute("DELETE FROM things WHERE id = 1", [])
                    let after = try inner.first("SELECT COUNT(*) FROM things WHERE id > $1", [0])
                    return [try before.integer(0), try after?.integer(0) ?? -1]
                }
            }
            #expect(counts == [6, 5])
            await #expect(throws: Missing.self) {
                try await store.read { transaction in
                    try transaction.joined { inner in
                        guard try inner.first("SELECT id FROM things WHERE id = 1", []) != nil else { throw Missing() }
                    }
                }
            }
        }
    }

    @Test("fail together if one of them is wrong, and end the transaction", arguments: StoreKind.all)
    func failure(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [StatementTests.things]) { store in
            await #expect(throws: StoreError.statement(reason: "")) {
                try await store.read { transaction in
                    _ = try? transaction.queries([("SELECT 1", []), ("SELECT nothing FROM things", [])])
                }
            }
        }
    }
}
