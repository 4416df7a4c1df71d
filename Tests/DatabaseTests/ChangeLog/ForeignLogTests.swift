import Fixtures
import Foundation
import Testing

@testable import Database

/// A change log that another server wrote, as a dump brings it.
@Suite struct ForeignLogTests {
    private static let migrations = ChangeLogTests.migrations

    /// Each of the places in which a log names transactions of its server.
    private static let numbered = [
        """
        UPDATE change_log
        SET xid = CAST(CAST(4000000000000 + CAST(CAST(xid AS TEXT) AS BIGINT) AS TEXT) AS xid8)
        """,
        "UPDATE change_log_incarnation SET purged_below = 4000000000000",
    ]

    @Test("A reader of one waits for ever, until the log begins anew", arguments: numbered)
    func adopted(sql: String) async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            try await ChangeLogTests.append(store, [1, 2])
            try await store.write { try $0.execute(sql) }
            let before = try await store.changePosition()
            #expect(try await store.changes(after: before, limit: 10).isInterrupted)
            #expect(try await store.hasForeignChangeLog())
            #expect(try await store.adoptChangeLog())
            #expect(try await !store.hasForeignChangeLog())
            // Whoever remembers something of before is told.
            let reading = try await store.changes(after: before, limit: 10)
            #expect(reading.isInterrupted)
            var position = reading.position
            try await ChangeLogTests.append(store, [3])
            #expect(try await ChangeLogTests.readOn(store, &position).map(\.key) == [[3]])
            let beat = try #require(try await store.heartbeat())
            _ = try await ChangeLogTests.readOn(store, &position)
            #expect(position.shows(beat))
        }
    }

    @Test("Of several nodes that come at once one begins it anew")
    func once() async throws {
        try await withTemporaryDirectory { directory in
            let stores = try (0..<3).map { _ in
                try StoreKind.postgresql.open(directory) { Date(timeIntervalSince1970: 0) }
            }
            try await stores[0].migrate(Self.migrations)
            try await stores[0].write { try $0.execute(Self.numbered[0]) }
            let adopted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for store in stores { group.addTask { try await store.adoptChangeLog() } }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(adopted.count { $0 } == 1)
            for store in stores { try await store.close() }
        }
    }

    @Test("One of the store's own stays as it is, whatever was read and purged", arguments: StoreKind.shared)
    func own(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            #expect(try await !store.adoptChangeLog())
            try await ChangeLogTests.append(store, [1, 2])
            var position = try await store.changePosition()
            try await store.purgeChanges(below: [position])
            try await ChangeLogTests.append(store, [3])
            #expect(try await !store.hasForeignChangeLog())
            #expect(try await !store.adoptChangeLog())
            #expect(try await ChangeLogTests.readOn(store, &position).map(\.key) == [[3]])
        }
    }

    @Test("An observed store passes on every demand of a store")
    func observed() throws {
        let sources = try SourceFile.all(below: "Sources/Database")
        func text(_ name: String) throws -> String { try #require(sources.first { $0.name == name }).text }
        var demands: Set<String> = []
        for (file, name) in [("Database.swift", "Database"), ("ChangePosition.swift", "KeepsChangeLog")] {
            let body = try #require(
                try text(file).components(separatedBy: "package protocol \(name):").last?
                    .components(separatedBy: "\n}\n").first)
            demands.formUnion(body.matches(of: /\n    func (\w+)/).map { String($0.1) })
        }
        #expect(demands.count > 15)
        let observed = try text("ObservedDatabase.swift")
        for demand in demands { #expect(observed.contains("base.\(demand)("), "\(demand)") }
    }
}
