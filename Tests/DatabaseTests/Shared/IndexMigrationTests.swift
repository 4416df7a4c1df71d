import Fixtures
import Foundation
import Testing

@testable import Database

/// Migrations that make an index beside those who work.
@Suite struct IndexMigrationTests {
    static let table = Migration(
        identifier: 1, name: "things",
        statements: [
            "CREATE TABLE things (id BIGINT PRIMARY KEY, label TEXT)", "INSERT INTO things VALUES (1, 'a'), (2, 'a')",
        ])
    static let index = Migration(
        identifier: 2, name: "labels", indexes: [TableIndex("things_label", on: "things", "(label) WHERE id > 0")])
    static let unique = Migration(
        identifier: 3, name: "unique labels",
        indexes: [TableIndex("things_unique_label", on: "things", "(label)", isUnique: true)])

    @Test("An index is made once, and its migration is part of the history", arguments: StoreKind.all)
    func made(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.table, Self.index]) { store async throws in
            #expect(try await store.currentMigration() == 2)
            try await store.migrate([Self.table, Self.index])
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await store.migrate([Self.table, Self.index, Self.unique])
            }
            #expect(try await store.currentMigration() == 2)
            try await store.write { try $0.execute("UPDATE things SET label = 'b' WHERE id = 2") }
            // What the failed attempt left is not in the way.
            try await store.migrate([Self.table, Self.index, Self.unique])
            #expect(try await store.currentMigration() == 3)
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await store.write { try $0.execute("INSERT INTO things VALUES (3, 'a')") }
            }
            let other = Migration(
                identifier: 2, name: "labels", indexes: [TableIndex("things_label", on: "things", "(label)")])
            await #expect(throws: StoreError.migration(.changed(2))) { try await store.migrate([Self.table, other]) }
        }
    }

    /// The indexes of a store's tables, with whether they are complete.
    private static func indexes(_ store: any Database) async throws -> [String: Bool] {
        let rows = try await store.query(
            """
            SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
            WHERE n.nspname = current_schema() AND t.relname = 'things'
            """, [])
        return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text(0), try $0.bool(1)) })
    }

    @Test("What a process that died left of an index is taken away, and the index made again")
    func resumed() async throws {
        try await withTemporaryDirectory { directory in
            let store = try StoreKind.postgresql.open(directory) { Date() }
            try await store.migrate([Self.table])
            let schema = directory.lastPathComponent
            // It fails at two equal labels, as one that is killed would end: not valid.
            for name in ["things_label", "things_label_invalid"] {
                #expect(throws: PostgreSQLCluster.Absent.self) {
                    try PostgreSQLCluster.shared.run(
                        "CREATE UNIQUE INDEX CONCURRENTLY \(name) ON \"\(schema)\".things (label)")
                }
            }
            #expect(
                try await Self.indexes(store) == [
                    "things_pkey": true, "things_label": false, "things_label_invalid": false,
                ])
            try await store.migrate([Self.table, Self.index])
            #expect(try await Self.indexes(store) == ["things_pkey": true, "things_label": true])
            try await store.close()
        }
    }

    @Test("Writers go on while an index waits for a transaction that is open")
    func beside() async throws {
        try await withTemporaryDirectory { directory in
            // A database of its own: an index waits for the open transactions of the whole database.
            let address = try await onOwnThread {
                try PostgreSQLCluster.shared.newDatabase(directory.lastPathComponent)
            }
            // On a busy machine the transaction stays open for longer than one of the service may.
            var timeouts = PostgreSQLTimeouts()
            timeouts.statement = 60
            let store = PostgreSQLDatabase(try PostgreSQLAddress(address), timeouts: timeouts)
            try await store.migrate([Self.table])
            let (begun, beginning) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            let holder = Task {
                try await store.write { transaction in
                    try transaction.execute("UPDATE things SET label = 'c' WHERE id = 1")
                    beginning.finish()
                    _ = gate.wait(timeout: .now() + 120)
                }
            }
            for await _ in begun {}
            let migration = Task { try await store.migrate([Self.table, Self.index]) }
            for _ in 0..<12000 {
                guard try await Self.indexes(store)["things_label"] == nil else { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await Self.indexes(store)["things_label"] == false)
            // An index that kept writers waiting would fail this one after five seconds.
            try await store.write { try $0.execute("INSERT INTO things VALUES (3, 'd')") }
            #expect(try await Self.indexes(store)["things_label"] == false)
            gate.signal()
            try await holder.value
            try await migration.value
            #expect(try await Self.indexes(store)["things_label"] == true)
            try await store.close()
        }
    }

    @Test("Several processes may migrate at once")
    func several() async throws {
        try await withTemporaryDirectory { directory in
            let stores = try (0..<4).map { _ in try StoreKind.postgresql.open(directory) { Date() } }
            try await withThrowingTaskGroup { group in
                for store in stores {
                    group.addTask { try await store.migrate([Self.table, Self.index]) }
                }
                try await group.waitForAll()
            }
            #expect(try await Self.indexes(stores[0]) == ["things_pkey": true, "things_label": true])
            for store in stores { try await store.close() }
        }
    }
}
