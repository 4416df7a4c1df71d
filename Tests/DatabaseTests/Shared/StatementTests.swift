import Database
import Fixtures
import Foundation
import Testing

/// What a statement means, on every engine.
@Suite struct StatementTests {
    static let things = Migration(
        identifier: 1, name: "things",
        statements: [
            "CREATE TABLE things (id BIGINT PRIMARY KEY, label TEXT, amount DOUBLE PRECISION, payload BYTEA, flag INTEGER)"
        ])

    @Test(
        "A value comes back as it was written",
        arguments: StoreKind.all,
        [
            [1, nil, nil, nil, nil],
            [.integer(.max), "", 0.5, .bytes([]), true],
            [.integer(.min), "héllo 👋 'quoted' $1 ?", -1.5e300, .bytes([0, 255, 0, 39]), false],
            [7, "12", 2.0, .bytes(Array("12".utf8)), 0],
        ] as [[Value]])
    func roundTrip(kind: StoreKind, values: [Value]) async throws {
        try await withStore(kind, migrations: [Self.things]) { store in
            try await store.write { try $0.execute("INSERT INTO things VALUES ($1, $2, $3, $4, $5)", values) }
            let row = try await store.read { try $0.first("SELECT id, label, amount, payload, flag FROM things") }
            #expect(row?.values == values)
        }
    }

    @Test("A large value comes back as it was written", arguments: StoreKind.all)
    func largeValues(kind: StoreKind) async throws {
        let values: [Value] = [
            .text(String(repeating: "añ", count: 50_000)), .bytes(Array(repeating: 7, count: 1 << 20)),
        ]
        try await withStore(kind, migrations: [Self.things]) { store in
            try await store.write {
                try $0.execute("INSERT INTO things (id, label, payload) VALUES (1, $1, $2)", values)
            }
            let row = try await store.read { try $0.first("SELECT label, payload FROM things") }
            let isEqual = row?.values == values
            #expect(isEqual)
        }
    }

    @Test("A parameter may be used twice, out of order, and stands for nothing inside a text", arguments: StoreKind.all)
    func parameters(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.things]) { store in
            try await store.write {
                try $0.execute("INSERT INTO things (label, id, flag) VALUES ($2, $1, $1)", [1, "one"])
                try $0.execute("INSERT INTO things (label, id) VALUES ('$9', $1)", [2])
            }
            let rows = try await store.read {
                try $0.query(
                    "SELECT id, label, flag FROM things WHERE id = $3 OR label = $2 OR id = $1 ORDER BY id",
                    [0, "$9", 1])
            }
            #expect(rows == [Row([1, "one", 1]), Row([2, "$9", nil])])
        }
    }

    @Test("More than nine parameters keep their places", arguments: StoreKind.all)
    func manyParameters(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let row = try await store.read {
                try $0.first(
                    "SELECT $12, $11, $10, $1, $2, $3, $4, $5, $6, $7, $8, $9", (1...12).map { Value($0) })
            }
            #expect(row == Row([12, 11, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
        }
    }

    @Test(
        "A mistake in a statement is told as one, without any value", arguments: StoreKind.all,
        [
            ("SELECT $1", []), ("SELECT $1, $2", ["secret"]), ("SELECT 1", ["secret"]),
            ("SELECT $1", ["secret", "secret"]),
            ("SELECT ?", ["secret"]), ("SELECT :name", ["secret"]), ("SELECT $0", ["secret"]), ("SELEC $1", ["secret"]),
            ("SELECT id FROM absent WHERE id = $1", ["secret"]), ("SELECT $1; SELECT 2", ["secret"]), ("", []),
            ("SELECT $1", ["sec\u{0}ret"]), ("SELECT $1", [.real(.nan)]),
        ] as [(String, [Value])])
    func mistakes(kind: StoreKind, statement: (sql: String, arguments: [Value])) async throws {
        try await withStore(kind) { store in
            let error = await #expect(throws: StoreError.statement(reason: "")) {
                try await store.write { try $0.query(statement.sql, statement.arguments) }
            }
            #expect(error.map { !"\($0)".contains("secret") } ?? false)
        }
    }

    @Test("A conflict can be ignored or turned into an update, and the count says which", arguments: StoreKind.all)
    func conflicts(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.things]) { store in
            let counts = try await store.write { transaction in
                let ignoring = "INSERT INTO things (id, label) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING"
                let replacing = """
                    INSERT INTO things (id, label) VALUES ($1, $2)
                    ON CONFLICT (id) DO UPDATE SET label = excluded.label
                    """
                return [
                    try transaction.execute(ignoring, [1, "first"]), try transaction.execute(ignoring, [1, "second"]),
                    try transaction.execute(replacing, [1, "third"]), try transaction.execute(replacing, [2, "other"]),
                    try transaction.execute("UPDATE things SET flag = 1"),
                    try transaction.execute("CREATE TABLE more (id BIGINT)"),
                    try transaction.execute("DELETE FROM things WHERE id = $1", [3]),
                    try transaction.execute("DELETE FROM things"),
                ]
            }
            #expect(counts == [1, 0, 1, 1, 2, 0, 0, 2])
        }
    }

    @Test("RETURNING gives the changed rows, and asking for the first alone changes them all", arguments: StoreKind.all)
    func returning(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.things]) { store in
            let (inserted, updated) = try await store.write { transaction in
                let inserted = try transaction.query(
                    "INSERT INTO things (id, label) VALUES ($1, $2), ($3, $2) RETURNING label, id", [1, "x", 2])
                return (inserted, try transaction.first("UPDATE things SET flag = 1 RETURNING flag"))
            }
            #expect(inserted == [Row(["x", 1]), Row(["x", 2])])
            #expect(updated == Row([1]))
            let flags = try await store.read { try $0.query("SELECT flag FROM things") }
            #expect(flags == [Row([1]), Row([1])])
        }
    }

    @Test("A statement may be used again and again within a body", arguments: StoreKind.all)
    func reuse(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.things]) { store in
            let labels = try await store.write { transaction in
                try (1...20).map { number in
                    try transaction.execute(
                        "INSERT INTO things (id, label) VALUES ($1, $2)", [Value(number), .text("label \(number)")])
                    return try transaction.first("SELECT label FROM things WHERE id = $1", [Value(number)])?.text(0)
                }
            }
            #expect(labels == (1...20).map { "label \($0)" })
            #expect(try await store.read { try $0.first("SELECT 1 FROM things WHERE id = $1", [21]) } == nil)
        }
    }

    @Test("A column is read as exactly what it is")
    func getters() throws {
        let row = Row([1, 2.5, "text", .bytes([1]), nil, 2])
        #expect(try row.integer(0) == 1 && row.real(1) == 2.5 && row.text(2) == "text" && row.bytes(3) == [1])
        #expect(try row.bool(0))
        #expect(try row.integerOrNull(4) == nil && row.textOrNull(4) == nil && row.bytesOrNull(4) == nil)
        #expect(try row.textOrNull(2) == "text")
        #expect(throws: StoreError.column(2, expected: "")) { try row.integer(2) }
        #expect(throws: StoreError.column(0, expected: "")) { try row.real(0) }
        #expect(throws: StoreError.column(4, expected: "")) { try row.text(4) }
        #expect(throws: StoreError.column(2, expected: "")) { try row.bytes(2) }
        #expect(throws: StoreError.column(5, expected: "")) { try row.bool(5) }
        #expect(throws: StoreError.column(6, expected: "")) { try row.integerOrNull(6) }
        #expect(throws: StoreError.column(-1, expected: "")) { try row.value(-1) }
    }

    @Test("An absent optional is bound as null")
    func optionals() {
        #expect(Value(Int?.none) == .null && Value(String?.none) == .null && Value([UInt8]?.none) == .null)
        #expect(Value(Int64?(3)) == 3 && Value(String?("a")) == "a" && Value(Bool?(true)) == 1)
        #expect(Value(Double?(0.5)) == 0.5 && Value(Bool?.none) == nil && Value([UInt8]?([1])) == .bytes([1]))
    }
}
