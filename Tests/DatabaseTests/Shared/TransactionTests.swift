import Database
import Fixtures
import Foundation
import Testing

/// What a transaction keeps and what it forgets, on every engine.
@Suite struct TransactionTests {
    struct Interruption: Error, Equatable {}

    static let family = Migration(
        identifier: 1, name: "family",
        statements: [
            "CREATE TABLE parents (id BIGINT PRIMARY KEY, name TEXT UNIQUE)",
            """
            CREATE TABLE children (
                id BIGINT PRIMARY KEY, parent BIGINT NOT NULL REFERENCES parents (id), age INTEGER CHECK (age >= 0)
            )
            """,
            "INSERT INTO parents (id, name) VALUES (1, 'Ada')",
        ])

    private static func countParents(_ store: any Database) async throws -> Int64? {
        try await store.read { try $0.first("SELECT count(*) FROM parents")?.integer(0) }
    }

    @Test("The time of a body is that which the store keeps: whole milliseconds", arguments: StoreKind.all)
    func milliseconds(kind: StoreKind) async throws {
        let clock: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000.9997) }
        try await withStore(kind, clock: clock) { store async throws in
            let second = Date(timeIntervalSince1970: 1_800_000_001)
            #expect(try await store.read { $0.now } == second)
            #expect(try await store.write { $0.now } == second)
        }
    }

    @Test("An error of the body passes through and takes back what the body wrote", arguments: StoreKind.all)
    func rollback(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store async throws in
            await #expect(throws: Interruption()) {
                try await store.write { transaction in
                    try transaction.execute("INSERT INTO parents (id) VALUES (2)")
                    throw Interruption()
                }
            }
            #expect(try await Self.countParents(store) == 1)
            await #expect(throws: Interruption()) { try await store.read { _ in throw Interruption() } }
        }
    }

    @Test(
        "A broken invariant is told by its kind", arguments: StoreKind.all,
        [
            ("INSERT INTO parents (id) VALUES (1)", .unique), ("INSERT INTO parents VALUES (2, 'Ada')", .unique),
            ("INSERT INTO children VALUES (1, 9, 1)", .foreignKey), ("INSERT INTO children VALUES (1, 1, -1)", .check),
            ("INSERT INTO children VALUES (1, NULL, 1)", .notNull),
        ] as [(String, StoreError.Constraint)])
    func constraints(kind: StoreKind, statement: (sql: String, broken: StoreError.Constraint)) async throws {
        try await withStore(kind, migrations: [Self.family]) { store in
            await #expect(throws: StoreError.constraint(kind: statement.broken)) {
                try await store.write { try $0.execute(statement.sql) }
            }
        }
    }

    @Test(
        "What is put off happens in its order, before the next statement and before the commit",
        arguments: StoreKind.all)
    func later(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store async throws in
            try await store.write { transaction in
                try transaction.enqueue("INSERT INTO parents (id, name) VALUES (2, $1)", [.text("Grace")])
                try transaction.enqueue("UPDATE parents SET name = 'Barbara' WHERE id = 2", [])
                #expect(try transaction.first("SELECT name FROM parents WHERE id = 2")?.text(0) == "Barbara")
                for id in 3..<103 { try transaction.enqueue("INSERT INTO parents (id) VALUES ($1)", [Value(id)]) }
            }
            #expect(try await Self.countParents(store) == 102)
            await #expect(throws: Interruption()) {
                try await store.write { transaction in
                    try transaction.enqueue("DELETE FROM parents", [])
                    throw Interruption()
                }
            }
            #expect(try await Self.countParents(store) == 102)
        }
    }

    @Test("What is put off and cannot be done fails the body", arguments: StoreKind.all, [false, true])
    func failedLater(kind: StoreKind, isFollowed: Bool) async throws {
        try await withStore(kind, migrations: [Self.family]) { store async throws in
            for (sql, broken) in [
                ("INSERT INTO parents (id) VALUES (1)", StoreError.Constraint.unique),
                ("INSERT INTO children VALUES (1, 9, 1)", .foreignKey),
            ] {
                await #expect(throws: StoreError.constraint(kind: broken)) {
                    try await store.write { transaction in
                        try transaction.enqueue("INSERT INTO parents (id) VALUES (2)", [])
                        try transaction.enqueue(sql, [])
                        if isFollowed { _ = try? transaction.first("SELECT 1") }
                    }
                }
            }
            #expect(try await Self.countParents(store) == 1)
        }
    }

    @Test("A statement that failed fails the whole body, even where the body goes on", arguments: StoreKind.all)
    func swallowedError(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store async throws in
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await store.write { transaction in
                    try transaction.execute("INSERT INTO parents (id) VALUES (2)")
                    _ = try? transaction.execute("INSERT INTO parents (id) VALUES (1)")
                    _ = try? transaction.execute("INSERT INTO parents (id) VALUES (3)")
                }
            }
            #expect(try await Self.countParents(store) == 1)
        }
    }

    @Test("A read cannot write", arguments: StoreKind.all)
    func readOnly(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store async throws in
            await #expect(throws: StoreError.statement(reason: "")) {
                try await store.read { try $0.execute("INSERT INTO parents (id) VALUES (2)") }
            }
            #expect(try await Self.countParents(store) == 1)
        }
    }

    @Test("A read sees one snapshot while others write", arguments: StoreKind.shared)
    func snapshot(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store in
            let (begun, written) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let counts = store.read { transaction in
                let before = try transaction.first("SELECT count(*) FROM parents")
                begun.signal()
                let isWritten = written.wait(timeout: .now() + 120) == .success
                return (before, try transaction.first("SELECT count(*) FROM parents"), isWritten)
            }
            try await store.write { transaction in
                _ = begun.wait(timeout: .now() + 120)
                try transaction.execute("INSERT INTO parents (id) VALUES (2)")
            }
            written.signal()
            let (before, after, isWritten) = try await counts
            #expect(isWritten && before == Row([1]) && after == before)
            #expect(try await Self.countParents(store) == 2)
        }
    }

    @Test("In memory a read and a write take turns: neither sees the half of the other")
    func turns() async throws {
        try await withStore(.memory, migrations: [Self.family]) { store in
            try await withThrowingTaskGroup { group in
                for number in 1...100 {
                    group.addTask {
                        try await store.write { transaction in
                            try transaction.execute("INSERT INTO parents (id) VALUES ($1)", [Value(2 * number)])
                            try transaction.execute("INSERT INTO parents (id) VALUES ($1)", [Value(2 * number + 1)])
                        }
                    }
                    group.addTask {
                        let count = try await Self.countParents(store)
                        #expect(count.map { $0 % 2 } == 1)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await Self.countParents(store) == 201)
        }
    }

    @Test("A body's clock is the store's and stands still within the body", arguments: StoreKind.all)
    func clock(kind: StoreKind) async throws {
        let instant = Date(timeIntervalSince1970: 1_234_567_890)
        let clock: @Sendable () -> Date = { instant }
        try await withStore(kind, clock: clock) { store async throws in
            #expect(try await store.write { $0.now } == instant)
            #expect(try await store.read { $0.now } == instant)
        }
    }

    @Test("What 200 concurrent writers wrote is there when the store is opened again", arguments: StoreKind.shared)
    func durability(kind: StoreKind) async throws {
        try await withTemporaryDirectory { directory in
            let store = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
            try await store.migrate([Self.family])
            try await withThrowingTaskGroup { group in
                for number in 2...201 {
                    group.addTask {
                        try await store.write {
                            try $0.execute("INSERT INTO parents (id) VALUES ($1)", [Value(number)])
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await store.close()
            let reopened = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
            #expect(try await Self.countParents(reopened) == 201)
            try await reopened.close()
        }
    }

    @Test("Of many writers that want the same row, one gets it", arguments: StoreKind.all)
    func race(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store in
            let winners = await withTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask {
                        (try? await store.write { try $0.execute("INSERT INTO parents (id) VALUES (2)") }) ?? 0
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(winners == 1)
        }
    }

    @Test("A cancelled caller still learns the outcome of its write", arguments: StoreKind.all)
    func cancellation(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store async throws in
            let writers = (2...50).map { number in
                let writer = Task {
                    try await store.write { try $0.execute("INSERT INTO parents (id) VALUES ($1)", [Value(number)]) }
                }
                writer.cancel()
                return writer
            }
            var acknowledged: Int64 = 0
            for writer in writers where (try? await writer.value) == 1 {
                acknowledged += 1
            }
            #expect(try await Self.countParents(store) == 1 + acknowledged)
        }
    }

    @Test("The change stamp moves when another instance commits", arguments: StoreKind.shared)
    func movingStamp(kind: StoreKind) async throws {
        try await withTemporaryDirectory { directory in
            let store = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
            let other = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
            try await store.migrate([Self.family])
            let first = try store.changeStamp()
            try await other.write { try $0.execute("INSERT INTO parents (id) VALUES (2)") }
            #expect(try store.changeStamp() != first)
            #expect(try await Self.countParents(store) == 2)
            try await other.close()
            try await store.close()
        }
    }

    @Test("Where the engine keeps a change stamp, it rests while nothing is committed", arguments: [StoreKind.sqlite])
    func changeStamp(kind: StoreKind) async throws {
        try await withTemporaryDirectory { directory in
            let store = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
            let other = try kind.open(directory) { Date(timeIntervalSince1970: 0) }
            try await store.migrate([Self.family])
            let first = try store.changeStamp()
            #expect(try store.changeStamp() == first)
            try await other.write { try $0.execute("INSERT INTO parents (id) VALUES (2)") }
            let second = try store.changeStamp()
            #expect(second != first)
            await #expect(throws: Interruption()) {
                try await other.write { transaction in
                    try transaction.execute("INSERT INTO parents (id) VALUES (3)")
                    throw Interruption()
                }
            }
            #expect(try store.changeStamp() == second)
            #expect(try await Self.countParents(store) == 2)
            try await other.close()
            try await store.close()
        }
    }

    @Test("A closed store finishes what it was asked and is unavailable from then on", arguments: StoreKind.all)
    func closing(kind: StoreKind) async throws {
        try await withStore(kind, migrations: [Self.family]) { store in
            try await store.check()
            try await store.close()
            try await store.close()
            let unavailable = StoreError.unavailable(reason: "")
            await #expect(throws: unavailable) { try await store.read { _ in } }
            await #expect(throws: unavailable) { try await store.write { _ in } }
            await #expect(throws: unavailable) { try await store.check() }
            #expect(throws: unavailable) { try store.changeStamp() }
        }
    }
}
