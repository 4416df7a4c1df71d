import Database
import Fixtures
import Foundation
import Testing

/// What SQLite must be told so that the contract holds.
@Suite struct SQLiteTests {
    private static func path(_ directory: URL) -> String {
        directory.appendingPathComponent("store.db").path
    }

    private static func open(_ path: String, busyTimeout: TimeInterval = 5) throws -> SQLiteDatabase {
        try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) }, busyTimeout: busyTimeout)
    }

    @Test(
        "The settings that the guarantees rest on are in force",
        arguments: [
            ("synchronous", 2), ("journal_mode", "wal"), ("foreign_keys", 1), ("trusted_schema", 0),
            ("cell_size_check", 1), ("secure_delete", 1), ("temp_store", 2),
        ] as [(String, Value)])
    func settings(name: String, expected: Value) async throws {
        try await withStore(.sqlite) { store async throws in
            #expect(try await store.write { try $0.first("PRAGMA \(name)")?.value(0) } == expected)
            guard !["synchronous", "temp_store"].contains(name) else { return }
            #expect(try await store.read { try $0.first("PRAGMA \(name)")?.value(0) } == expected)
        }
    }

    @Test("A BYTEA column keeps bytes as they are, and the other types are SQLite's own")
    func storageClasses() async throws {
        try await withStore(.sqlite, migrations: [StatementTests.things]) { store in
            let classes = try await store.write { transaction in
                try transaction.execute(
                    "INSERT INTO things VALUES ($1, $2, $3, $4, $5)", [1, "12", 2.0, .bytes(Array("12".utf8)), 1])
                return try transaction.first(
                    "SELECT typeof(id), typeof(label), typeof(amount), typeof(payload), typeof(flag) FROM things")
            }
            #expect(classes == Row(["integer", "text", "real", "blob", "integer"]))
        }
    }

    @Test("The files are their owner's alone")
    func fileMode() async throws {
        try await withTemporaryDirectory { directory in
            let store = try Self.open(Self.path(directory))
            try await store.write { try $0.execute("CREATE TABLE things (id BIGINT)") }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            #expect(names == ["store.db", "store.db-shm", "store.db-wal"])
            for name in names {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: directory.appendingPathComponent(name).path)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            try await store.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["store.db"])
        }
    }

    @Test("A path that holds no store is unavailable", arguments: ["", "/absent/store.db", "/text"])
    func noStore(suffix: String) async throws {
        try await withTemporaryDirectory { directory in
            let text = Data(repeating: 0x61, count: 8192)
            try text.write(to: directory.appendingPathComponent("text"))
            #expect(throws: StoreError.unavailable(reason: "")) { try Self.open(directory.path + suffix) }
        }
    }

    @Test("A store whose file was taken away or replaced is unavailable", arguments: [false, true])
    func movedAway(isReplaced: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let path = Self.path(directory)
            let store = try Self.open(path)
            try await store.migrate([StatementTests.things])
            try FileManager.default.removeItem(atPath: path)
            if isReplaced {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            let unavailable = StoreError.unavailable(reason: "")
            await #expect(throws: unavailable) { try await store.check() }
            #expect(throws: unavailable) { try store.changeStamp() }
            await #expect(throws: unavailable) {
                try await store.write { try $0.execute("INSERT INTO things (id) VALUES (1)") }
            }
            try await store.close()
        }
    }

    @Test("A store that another process keeps for too long is unavailable, and serves again afterwards")
    func busy() async throws {
        try await withTemporaryDirectory { directory in
            let store = try Self.open(Self.path(directory), busyTimeout: 0.02)
            let other = try Self.open(Self.path(directory))
            try await store.migrate([StatementTests.things])
            let (begun, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let holder = Task {
                try await other.write { _ in
                    begun.signal()
                    _ = released.wait(timeout: .now() + 120)
                }
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    begun.wait()
                    continuation.resume()
                }
            }
            await #expect(throws: StoreError.unavailable(reason: "")) { try await store.write { _ in } }
            released.signal()
            try await holder.value
            try await store.write { try $0.execute("INSERT INTO things (id) VALUES (1)") }
            try await other.close()
            try await store.close()
        }
    }

    @Test("Many instances may open a new file at once")
    func concurrentOpening() async throws {
        try await withTemporaryDirectory { directory in
            let path = Self.path(directory)
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        let store = try Self.open(path)
                        try await store.write { try $0.execute("CREATE TABLE things_\(number) (id BIGINT)") }
                        try await store.close()
                    }
                }
                try await group.waitForAll()
            }
            let store = try Self.open(path)
            #expect(try await store.read { try $0.first("SELECT count(*) FROM sqlite_schema") } == Row([8]))
            try await store.close()
        }
    }

    @Test("More reads than connections wait in line, and all are answered")
    func manyReads() async throws {
        try await withStore(.sqlite) { store in
            let sum = try await withThrowingTaskGroup { group in
                for number in 1...300 {
                    group.addTask {
                        try await store.read { try $0.first("SELECT $1", [Value(number)])?.integer(0) ?? 0 }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(sum == 45_150)
        }
    }

    @Test("The statistics by which indexes are chosen are looked after when a store is closed, and at times before")
    func statistics() async throws {
        for isClosed in [true, false] {
            try await withTemporaryDirectory { directory in
                let store = try SQLiteDatabase(
                    path: Self.path(directory), clock: { Date(timeIntervalSince1970: 0) },
                    optimizeInterval: isClosed ? .seconds(86_400) : .zero)
                try await store.write { transaction in
                    try transaction.execute("CREATE TABLE labels (id BIGINT PRIMARY KEY, label TEXT, part TEXT)")
                    try transaction.execute("CREATE INDEX labels_label ON labels (label, part)")
                }
                try await store.write { transaction in
                    for id in 0..<100 {
                        try transaction.execute("INSERT INTO labels VALUES ($1, $2, 'x')", [Value(id), .text("\(id)")])
                    }
                    _ = try transaction.query("SELECT id FROM labels WHERE label = '7' AND part = 'x'")
                }
                // Behind the work of the write before.
                try await store.write { _ in }
                let isThere = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'"
                #expect(try await store.read { try $0.first(isThere) } == Row([isClosed ? 0 : 1]))
                try await store.close()
                let reopened = try Self.open(Self.path(directory))
                #expect(try await reopened.read { try $0.first(isThere) } == Row([1]))
                #expect(
                    try await reopened.read { try $0.first("SELECT stat FROM sqlite_stat1 WHERE idx = 'labels_label'") }
                        == Row(["100 1 1"]))
                try await reopened.close()
            }
        }
    }
}
