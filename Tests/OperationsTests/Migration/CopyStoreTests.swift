import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

/// Moving a store into another one, of either engine.
@Suite("Copying a store")
struct CopyStoreTests {
    /// From where to where.
    static let ways: [(StoreKind, StoreKind)] =
        [(.sqlite, .postgresql), (.postgresql, .sqlite)]
        + (Soak.isOn ? [(.sqlite, .sqlite), (.postgresql, .postgresql)] : [])

    /// Every type, a key of several columns, and what makes rows stand in each other's way.
    static let things = Migration(
        identifier: 1000, name: "things",
        statements: [
            """
            CREATE TABLE things (
                label TEXT NOT NULL, number BIGINT NOT NULL, payload BYTEA, amount DOUBLE PRECISION, flag INTEGER,
                PRIMARY KEY (label, number)
            )
            """,
            "CREATE TABLE seats (id TEXT NOT NULL PRIMARY KEY, seat BIGINT)",
            """
            CREATE TABLE bags (
                id TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL REFERENCES seats (id), weight BIGINT, tag BIGINT UNIQUE
            )
            """,
        ])
    static let migrations = Schema.migrations + [things]

    static let clock: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) }

    /// A copy from one store to another.
    static func copier(_ source: any Database, _ target: any Database, _ migrations: [Migration] = migrations)
        -> CopyStore
    {
        CopyStore(
            source: source, target: target, places: ("sqlite:/old", "postgresql://new/x"), migrations: migrations,
            environment: Environment(now: clock), actor: "admin test")
    }

    /// Runs a body with a migrated source and an empty target.
    static func withStores(
        _ way: (StoreKind, StoreKind), _ body: (any Database, any Database) async throws -> Void
    ) async throws {
        try await withStore(way.0, migrations: Self.migrations) { source in
            try await Self.withTarget(way.1) { target in try await body(source, target) }
        }
    }

    /// Runs a body with an empty store beside another one, which counts for both.
    static func withTarget(
        _ kind: StoreKind, clock: @escaping @Sendable () -> Date = clock, _ body: (any Database) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let store = try kind.open(directory, clock)
            do {
                try await body(store)
            } catch {
                try await store.close()
                throw error
            }
            try await store.close()
        }
    }

    private func fill(_ store: any Database, rows: Int) async throws {
        try await store.write { transaction in
            let values: [[Value]] = [
                ["", .integer(.min), nil, nil, nil], ["\u{e9}", .integer(.max), .bytes([]), 0.5, true],
                ["e\u{301}", 0, .bytes([0, 255, 0]), -1.5e300, false], ["Z", 1, .bytes(Array("12".utf8)), 2.0, 7],
                ["a", 1, nil, .real(.infinity), nil], ["_", -1, nil, 0.0, nil],
            ]
            try transaction.execute("INSERT INTO things VALUES ($1, $2, $3, $4, $5)", rows: values)
            // Three that are large: pages are small where rows are not.
            for number in 0..<3 {
                try transaction.execute(
                    "INSERT INTO things VALUES ('large', $1, $2, NULL, NULL)",
                    [Value(number), .bytes([UInt8](repeating: UInt8(number), count: 3 << 20))])
            }
            try transaction.execute(
                "INSERT INTO seats VALUES ($1, $2)", rows: (0..<rows).map { [.text("seat \($0)"), Value($0)] })
            try transaction.execute(
                "INSERT INTO bags VALUES ($1, $2, $3, $3)",
                rows: (0..<rows).map { [.text("bag \($0)"), .text("seat \($0)"), Value($0)] })
        }
    }

    @Test("Every value comes over, and what changes meanwhile does at the next run", arguments: ways)
    func values(way: (StoreKind, StoreKind)) async throws {
        try await Self.withStores(way) { source, target in
            try await fill(source, rows: 1200)
            let copy = Self.copier(source, target)
            let first = try await copy(isFinal: false)
            #expect(first.isEqual && !first.isFinished)
            #expect(first.tables.first { $0.table == "things" }?.source.rows == 9)
            #expect(first.tables.first { $0.table == "seats" }?.target.rows == 1200)
            #expect(Set(first.tables.map(\.table)).isSuperset(of: ["sessions", "audit_entries", "schema_migrations"]))
            // Not in use before it is finished, and the source still is.
            await #expect(throws: StoreError.notUsable(.unfinished(copyOf: "sqlite:/old"))) {
                try await target.migrate(Self.migrations)
            }
            try await source.migrate(Self.migrations)
            try await source.write { transaction in
                // Rows go, with those that refer to them; rows come; all others exchange what is unique.
                try transaction.execute("DELETE FROM bags WHERE weight < 100")
                try transaction.execute("DELETE FROM seats WHERE seat < 100")
                try transaction.execute("UPDATE seats SET seat = 1 - seat")
                try transaction.execute("UPDATE bags SET tag = -tag")
                try transaction.execute("UPDATE bags SET tag = 1199 + 100 + tag")
                try transaction.execute("INSERT INTO seats VALUES ('new', 5000)")
                try transaction.execute("INSERT INTO bags VALUES ('new', 'new', 1, NULL)")
                try transaction.execute("UPDATE things SET label = 'moved' WHERE label = 'Z'")
            }
            let last = try await copy(isFinal: true)
            #expect(last.isEqual && last.isFinished)
            #expect(last.tables.first { $0.table == "seats" }?.target.rows == 1101)
            for sql in [
                "SELECT label, number, payload, amount, flag FROM things WHERE label <> 'large' ORDER BY number, label",
                "SELECT id, seat FROM seats ORDER BY seat",
                "SELECT id, owner, weight, tag FROM bags ORDER BY weight, id",
            ] {
                let put = sql.replacing(/FROM (\w+)/) { "FROM \(CopyMark.retire(String($0.output.1)))" }
                let (expected, found) = (
                    try await source.read { try $0.query(put) }, try await target.read { try $0.query(sql) }
                )
                #expect(found == expected)
            }
        }
    }

    @Test("A store that was moved takes no write and no start, says where it went, and can be taken back")
    func moved() async throws {
        for way in Self.ways.prefix(2) {
            try await Self.withStores(way) { source, target in
                _ = try await Self.copier(source, target)(isFinal: true)
                let moved = StoreError.notUsable(.moved(to: "postgresql://new/x"))
                let error = await #expect(throws: moved) { try await source.migrate(Self.migrations) }
                #expect(error.map { "\($0)" }?.contains("postgresql://new/x") == true)
                // Not even one who had it open before.
                await #expect(throws: StoreError.statement(reason: "")) {
                    try await source.write { try $0.execute("INSERT INTO rates (key, arrival) VALUES ('a', 1)") }
                }
                try await target.migrate(Self.migrations)
                try await target.write { try $0.execute("INSERT INTO rates (key, arrival) VALUES ('a', 1)") }
                // Once more changes nothing of what was written since.
                let again = try await Self.copier(source, target)(isFinal: true)
                #expect(again.isFinished && again.tables.isEmpty)
                #expect(try await target.read { try $0.query("SELECT key FROM rates") } == [Row(["a"])])
                let entries = try await target.read { try $0.query("SELECT event, detail FROM audit_entries") }
                #expect(entries == [Row(["store_moved", "from sqlite:/old to postgresql://new/x"])])
                try await Self.withTarget(.sqlite) { other in
                    await #expect(throws: Refusal(.conflict, "")) {
                        _ = try await Self.copier(source, other)(isFinal: false)
                    }
                    #expect(try await source.takeBack() == "postgresql://new/x")
                    #expect(try await source.takeBack() == nil)
                    try await source.migrate(Self.migrations)
                    try await source.write { try $0.execute("INSERT INTO rates (key, arrival) VALUES ('b', 1)") }
                    // Its copy is in use: it is not overwritten. Another place takes it.
                    await #expect(throws: Refusal(.conflict, "")) {
                        _ = try await Self.copier(source, target)(isFinal: true)
                    }
                    let report = try await Self.copier(source, other)(isFinal: true)
                    #expect(report.isFinished && report.isEqual)
                }
            }
        }
    }

    @Test("Only an empty store, or the copy of this one, takes a copy")
    func refused() async throws {
        try await Self.withStores((.sqlite, .postgresql)) { source, target in
            _ = try await Self.copier(source, target)(isFinal: false)
            try await Self.withTarget(.sqlite) { other in
                try await other.migrate(Self.migrations)
                // Another store's copy; a store that is in use; a store that is no whole copy yet.
                for (from, to) in [(other, target), (source, other), (target, other)] {
                    await #expect(throws: (any Error).self) { _ = try await Self.copier(from, to)(isFinal: false) }
                }
                try await other.migrate(Self.migrations)
            }
            // An older build than the one that the copy was begun with.
            await #expect(throws: StoreError.migration(.newer(1000))) {
                _ = try await Self.copier(source, target, Schema.migrations)(isFinal: false)
            }
            #expect(try await Self.copier(source, target)(isFinal: true).isFinished)
        }
    }

    @Test("A run that dies is continued by the next, wherever it dies", arguments: ways.prefix(2))
    func dying(way: (StoreKind, StoreKind)) async throws {
        try await Self.withStores(way) { source, target in
            try await fill(source, rows: 300)
            var (random, deaths) = (SeededRandom(seed: 5), 0)
            for round in 0..<40 {
                let statements = Int.random(in: 1...110, using: &random)
                let isSource = round % 2 == 0
                let copy = Self.copier(
                    isSource ? FailingStore(store: source, statements: statements) : source,
                    isSource ? target : FailingStore(store: target, statements: statements * 3))
                do {
                    let report = try await copy(isFinal: round > 20)
                    #expect(report.isEqual)
                    guard !report.isFinished else { break }
                } catch is FailingStore.Crash {
                    deaths += 1
                }
            }
            #expect(deaths > 5)
            let report = try await Self.copier(source, target)(isFinal: true)
            #expect(report.isFinished)
            try await target.migrate(Self.migrations)
            #expect(try await target.read { try $0.first("SELECT count(*) FROM bags") } == Row([300]))
        }
    }

    @Test("Of two runs at once the later goes on, and the earlier writes nothing more")
    func takenOver() async throws {
        try await Self.withStores((.sqlite, .sqlite)) { source, target in
            try await fill(source, rows: 10)
            let started = Mutex(false)
            await #expect(throws: Refusal(.conflict, "")) {
                _ = try await Self.copier(source, target)(isFinal: false) { _, _, _ in
                    // In the middle of the first: the second begins, and ends.
                    let isFirst = started.withLock { isStarted in
                        defer { isStarted = true }
                        return !isStarted
                    }
                    guard isFirst else { return }
                    let ended = DispatchSemaphore(value: 0)
                    Task {
                        _ = try await Self.copier(source, target)(isFinal: false)
                        // What the first would bring over.
                        try await source.write { try $0.execute("INSERT INTO seats VALUES ('later', 1)") }
                        ended.signal()
                    }
                    _ = ended.wait(timeout: .now() + 120)
                }
            }
            #expect(try await Self.copier(source, target)(isFinal: true).isFinished)
        }
    }

    @Test("What was acknowledged while the store was copied and moved is in the copy", arguments: ways.prefix(2))
    func underWriters(way: (StoreKind, StoreKind)) async throws {
        try await Self.withStores(way) { source, target in
            try await fill(source, rows: 500)
            let writers = (0..<4).map { writer in
                Task {
                    var (random, acknowledged) = (SeededRandom(seed: UInt64(writer)), [String]())
                    for number in 0..<20_000 {
                        let id = "\(Int.random(in: 0...999_999, using: &random)) \(writer) \(number)"
                        let old = acknowledged.count > 50 ? acknowledged[0] : nil
                        do {
                            try await source.write { transaction in
                                try transaction.execute("INSERT INTO seats (id) VALUES ($1)", [.text(id)])
                                try transaction.execute("INSERT INTO bags VALUES ($1, $1, 1, NULL)", [.text(id)])
                                if let old {
                                    try transaction.execute("DELETE FROM bags WHERE id = $1", [.text(old)])
                                    try transaction.execute("DELETE FROM seats WHERE id = $1", [.text(old)])
                                }
                                try transaction.execute(
                                    "UPDATE bags SET weight = weight + 1 WHERE id = $1", [.text("bag \(writer)")])
                            }
                        } catch {
                            // The store has moved away from under this writer.
                            return acknowledged
                        }
                        if old != nil { acknowledged.removeFirst() }
                        acknowledged.append(id)
                    }
                    return acknowledged
                }
            }
            _ = try await Self.copier(source, target)(isFinal: false)
            let report = try await Self.copier(source, target)(isFinal: true)
            #expect(report.isFinished && report.isEqual)
            var expected: Set<String> = []
            for writer in writers { expected.formUnion(await writer.value) }
            let found = try await target.read { transaction in
                try transaction.query("SELECT id FROM bags WHERE id NOT LIKE 'bag %'").map { try $0.text(0) }
            }
            #expect(Set(found) == expected)
            #expect(!expected.isEmpty)
        }
    }
}
