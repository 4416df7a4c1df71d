import Fixtures
import Foundation
import Testing

@testable import Database

@Suite struct MigrationTests {
    static let first = Migration(
        identifier: 1, name: "users",
        statements: ["CREATE TABLE users (id BIGINT PRIMARY KEY)", "INSERT INTO users (id) VALUES (1)"])
    static let second = Migration(
        identifier: 2, name: "names",
        statements: ["ALTER TABLE users ADD COLUMN name TEXT", "UPDATE users SET name = 'x'"])

    @Test("Migrations are applied in order, once, and can be added to", arguments: StoreKind.all)
    func order(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            #expect(try await store.currentMigration() == 0)
            try await store.migrate([Self.first])
            #expect(try await store.currentMigration() == 1)
            try await store.migrate([Self.first, Self.second])
            try await store.migrate([Self.first, Self.second])
            #expect(try await store.currentMigration() == 2)
            let rows = try await store.read {
                (
                    try $0.query("SELECT id, name FROM users"),
                    try $0.query("SELECT name, applied_at FROM schema_migrations")
                )
            }
            #expect(rows.0 == [Row([1, "x"])])
            #expect(rows.1 == [Row(["users", 1_800_000_000]), Row(["names", 1_800_000_000])])
        }
    }

    @Test(
        "A store is refused if a newer build's migration does not say that this one can use it",
        arguments: StoreKind.all)
    func newer(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.first, Self.second]) { store in
            await #expect(throws: StoreError.migration(.newer(2))) { try await store.migrate([Self.first]) }
        }
    }

    @Test("A build uses a store that a newer one has migrated, if the migrations say so", arguments: StoreKind.all)
    func readable(kind: StoreKind) async throws {
        let expansion = Migration(
            identifier: 2, name: "names", readableFrom: 1, statements: ["ALTER TABLE users ADD COLUMN name TEXT"])
        try await withStore(kind, migrations: [Self.first, expansion]) { store async throws in
            try await store.migrate([Self.first])
            #expect(try await store.pendingMigrations(of: [Self.first]).isEmpty)
            #expect(try await store.currentMigration() == 2)
            try await store.write { try $0.execute("INSERT INTO users (id) VALUES (2)") }
            // A copy or a restore must know every table.
            await #expect(throws: StoreError.migration(.newer(2))) {
                try await store.migrate([Self.first], acceptsNewer: false)
            }
            await #expect(throws: StoreError.migration(.newer(2))) {
                try await store.pendingMigrations(of: [Self.first], acceptsNewer: false)
            }
            // The version after that drops what the first one reads.
            let contraction = Migration(
                identifier: 3, name: "labels", readableFrom: 2, statements: ["CREATE TABLE labels (id BIGINT)"])
            try await store.migrate([Self.first, expansion, contraction])
            await #expect(throws: StoreError.migration(.newer(3))) { try await store.migrate([Self.first]) }
            try await store.migrate([Self.first, expansion])
        }
    }

    @Test("An applied migration may not be reworded", arguments: StoreKind.all)
    func changed(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.first]) { store async throws in
            let reworded = Migration(
                identifier: 1, name: "users", statements: Self.first.statements + ["DROP TABLE users"])
            await #expect(throws: StoreError.migration(.changed(1))) {
                try await store.migrate([reworded, Self.second])
            }
            #expect(try await store.currentMigration() == 1)
        }
    }

    @Test("Histories that went different ways are not mixed", arguments: StoreKind.all)
    func diverged(kind: StoreKind) async throws {
        let third = Migration(identifier: 3, name: "third", statements: ["CREATE TABLE third (id BIGINT)"])
        try await withStore(kind, migrations: [Self.first, third]) { store in
            await #expect(throws: StoreError.migration(.diverged(2))) {
                try await store.migrate([Self.first, Self.second, third])
            }
        }
    }

    @Test("Identifiers must rise", arguments: [[2, 1], [1, 1], [0], [-1]])
    func unordered(identifiers: [Int]) async throws {
        try await withStore { store in
            let migrations = identifiers.map { Migration(identifier: $0, name: "m", statements: []) }
            await #expect(throws: StoreError.migration(.unordered(identifiers.last ?? 0))) {
                try await store.migrate(migrations)
            }
        }
    }

    @Test("A migration that fails leaves nothing of itself and all before it", arguments: StoreKind.all)
    func failing(kind: StoreKind) async throws {
        let broken = Migration(
            identifier: 2, name: "broken",
            statements: ["CREATE TABLE half (id BIGINT)", "CREATE TABLE users (id BIGINT)"])
        try await withStore(kind) { store in
            await #expect(throws: StoreError.statement(reason: "")) {
                try await store.migrate([Self.first, broken])
            }
            #expect(try await store.currentMigration() == 1)
            try await store.migrate([Self.first, Self.second])
            await #expect(throws: StoreError.statement(reason: "")) {
                try await store.read { try $0.query("SELECT id FROM half") }
            }
        }
    }

    @Test("Each engine executes its own statements after those of all", arguments: StoreKind.all)
    func byEngine(kind: StoreKind) async throws {
        func engine(_ name: String) -> [String] { ["UPDATE users SET name = '\(name)' WHERE name = 'x'"] }
        let own = Migration(
            identifier: 3, name: "engines", statements: ["INSERT INTO users (id, name) VALUES (2, 'x')"],
            ofEngine: [.postgreSQL: engine("PostgreSQL"), .sqlite: engine("SQLite")])
        try await withStore(kind, migrations: [Self.first, Self.second, own]) { store async throws in
            let name = kind.description.hasPrefix("SQLite") ? "SQLite" : "PostgreSQL"
            let rows = try await store.read { try $0.query("SELECT id, name FROM users ORDER BY id") }
            #expect(rows == [Row([1, .text(name)]), Row([2, .text(name)])])
            for (postgreSQL, sqlite) in [("x", "SQLite"), ("PostgreSQL", "x")] {
                let reworded = Migration(
                    identifier: 3, name: own.name, statements: own.statements,
                    ofEngine: [.postgreSQL: engine(postgreSQL), .sqlite: engine(sqlite)])
                await #expect(throws: StoreError.migration(.changed(3))) {
                    try await store.migrate([Self.first, Self.second, reworded])
                }
            }
        }
    }

    @Test("What is still to be applied is known without a change of the store", arguments: StoreKind.all)
    func pending(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let all = [Self.first, Self.second]
            #expect(try await store.pendingMigrations(of: all).map(\.identifier) == [1, 2])
            try await store.migrate([Self.first])
            #expect(try await store.pendingMigrations(of: all).map(\.identifier) == [2])
            #expect(try await store.currentMigration() == 1)
            try await store.migrate(all)
            #expect(try await store.pendingMigrations(of: all).isEmpty)
            await #expect(throws: StoreError.migration(.newer(2))) {
                try await store.pendingMigrations(of: [Self.first])
            }
        }
    }

    @Test("Several instances that migrate at once apply everything once", arguments: StoreKind.shared)
    func concurrent(kind: StoreKind) async throws {
        try await withTemporaryDirectory { directory in
            try await withThrowingTaskGroup { group in
                for _ in 0..<6 {
                    group.addTask {
                        let store = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
                        try await store.migrate([Self.first, Self.second])
                        try await store.close()
                    }
                }
                try await group.waitForAll()
            }
            let store = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
            #expect(try await store.currentMigration() == 2)
            #expect(try await store.read { try $0.query("SELECT id, name FROM users") } == [Row([1, "x"])])
            try await store.close()
        }
    }
}
