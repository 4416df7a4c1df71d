import Fixtures
import Foundation
import Testing

@testable import Database

/// Statements that share a transaction do not notice one another.
@Suite("Statements that go together")
struct SharedStatementTests {
    private static let table = """
        CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, at BIGINT NOT NULL, CHECK (name <> 'bad'))
        """
    private static let text = SharedText(parameters: 2) { now in
        """
        INSERT INTO things (id, name, at) SELECT $1, $2, \(now) WHERE $2 <> ''
        ON CONFLICT (id) DO NOTHING RETURNING id, at
        """
    }

    private static func statement(_ id: Int, _ name: String = "good") -> SharedStatement {
        SharedStatement(text, [Value(id), .text(name)])
    }

    /// What became of statements that come at once, in their order.
    private static func outcomes(
        of statements: [SharedStatement], in store: any Database
    ) async -> [Result<[Row], any Error>] {
        await withTaskGroup(of: (Int, Result<[Row], any Error>).self) { tasks in
            for (index, statement) in statements.enumerated() {
                tasks.addTask {
                    do {
                        return (index, .success(try await store.share(statement)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            var outcomes: [Int: Result<[Row], any Error>] = [:]
            for await (index, outcome) in tasks { outcomes[index] = outcome }
            return statements.indices.compactMap { outcomes[$0] }
        }
    }

    private static func run(
        _ kind: StoreKind, _ body: (any Database) async throws -> Void
    ) async throws {
        try await withStore(kind, migrations: [Migration(identifier: 1, name: "things", statements: [table])]) {
            store in
            try await body(store)
        }
    }

    @Test("are all carried out, each with an answer of its own and the store's time", arguments: StoreKind.all)
    func together(kind: StoreKind) async throws {
        try await Self.run(kind) { store in
            let statements = (0..<200).map { Self.statement($0) }
            for (index, outcome) in await Self.outcomes(of: statements, in: store).enumerated() {
                let rows = try outcome.get()
                #expect(rows.count == 1)
                #expect(try rows.first?.integer(0) == Int64(index))
                #expect(try rows.first?.integer(1) == 1_800_000_000_000)
            }
            let count = try await store.read { try $0.first("SELECT COUNT(*) FROM things")?.integer(0) }
            #expect(count == 200)
        }
    }

    @Test("fail alone, and only those that are wrong", arguments: StoreKind.all)
    func neighbours(kind: StoreKind) async throws {
        try await Self.run(kind) { store in
            let names = (0..<60).map { $0 % 20 == 7 ? "bad" : $0 % 20 == 9 ? "" : $0 % 20 == 11 ? "\0" : "good" }
            let outcomes = await Self.outcomes(of: names.enumerated().map { Self.statement($0, $1) }, in: store)
            for (name, outcome) in zip(names, outcomes) {
                switch (name, outcome) {
                case ("good", .success(let rows)): #expect(rows.count == 1)
                case ("", .success(let rows)): #expect(rows.isEmpty)
                case ("bad", .failure(let error)): #expect(error as? StoreError == .constraint(kind: .check))
                case ("\0", .failure(let error)): #expect(error as? StoreError == .statement(reason: ""))
                default: Issue.record("\(name): \(outcome)")
                }
            }
            let count = try await store.read { try $0.first("SELECT COUNT(*) FROM things")?.integer(0) }
            #expect(count == 51)
        }
    }

    @Test("about one row are carried out once, whichever comes first", arguments: StoreKind.all)
    func same(kind: StoreKind) async throws {
        try await Self.run(kind) { store in
            let outcomes = await Self.outcomes(of: (0..<40).map { Self.statement($0 / 2) }, in: store)
            let inserted = try outcomes.map { try $0.get().count }.reduce(0, +)
            #expect(inserted == 20)
        }
    }

    @Test("take fewer waits for the server than there are statements")
    func waits() async throws {
        try await Self.run(.postgresql) { store in
            let server = try #require(store as? PostgreSQLDatabase)
            _ = try await server.share(Self.statement(0))
            var before = server.exchanges
            _ = try await server.share(Self.statement(1))
            #expect(server.exchanges - before == 1)
            // While a stranger holds a row, those that need it wait; the others gather and go together.
            before = server.exchanges
            for outcome in await Self.outcomes(of: (2..<202).map { Self.statement($0) }, in: store) {
                #expect(try outcome.get().count == 1)
            }
            #expect(server.exchanges - before < 100)
        }
    }

    @Test("that wait crosswise with a stranger are carried out again, and each has its own answer")
    func crosswise() async throws {
        let address = try await onOwnThread {
            try PostgreSQLCluster.shared.newDatabase("crosswise-\(UUID().uuidString)")
        }
        // Whoever looks first for a deadlock is the one that is ended: not the strangers.
        let store = PostgreSQLDatabase(try PostgreSQLAddress(address + "&options=-cdeadlock_timeout%3D4s"))
        let table = "CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY)"
        try await store.migrate([Migration(identifier: 1, name: "things", statements: [table])])
        let text = SharedText(parameters: 1) { _ in
            "INSERT INTO things (id) VALUES ($1) ON CONFLICT (id) DO NOTHING RETURNING id"
        }
        func share(_ ids: [String]) -> Task<[Result<[Row], any Error>], Never> {
            Task { await Self.outcomes(of: ids.map { SharedStatement(text, [.text($0)]) }, in: store) }
        }
        /// Waits until the server says so of this database.
        func wait(for condition: String) async throws {
            for _ in 0..<12000 {
                let sql = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() HAVING \(condition)"
                let found = try await store.read { try $0.first(sql) }
                if found != nil { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            Issue.record("never: \(condition)")
        }
        func waiting(_ count: Int) -> String { "COUNT(*) FILTER (WHERE wait_event_type = 'Lock') = \(count)" }

        let (gate, stranger) = (try PostgreSQLPrompt(address), try PostgreSQLPrompt(address))
        try stranger.say("SET deadlock_timeout = '60s'; BEGIN; INSERT INTO things VALUES ('e');")
        try gate.say("BEGIN; INSERT INTO things VALUES ('x'), ('y');")
        try await wait(for: "COUNT(*) FILTER (WHERE state = 'idle in transaction' AND query LIKE 'INSERT%') = 2")
        // Both transactions are taken, one after the other, so that the next three gather.
        let x = share(["x"])
        try await wait(for: waiting(1))
        let y = share(["y"])
        try await wait(for: waiting(2))
        let batch = share(["b", "e", "g"])
        for _ in 0..<12000 where store.sharing.waiting < 3 { try await Task.sleep(for: .milliseconds(10)) }
        try gate.say("COMMIT;")
        for outcome in await x.value + y.value { #expect(try outcome.get().isEmpty) }
        try await wait(for: waiting(1))
        try stranger.say("INSERT INTO things VALUES ('b') ON CONFLICT DO NOTHING; COMMIT;")
        let answers = try await batch.value.map { try $0.get().count }
        #expect(answers == [1, 0, 1] || answers == [0, 0, 1])
        try await wait(for: "(SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) >= 1")
        try await store.close()
    }

    @Test("are executed in the order of the rows that they change, so that two batches do not deadlock")
    func order() async throws {
        let sharing = PostgreSQLSharing()
        let text = SharedText(parameters: 1) { _ in "UPDATE things SET name = 'x' WHERE id = $1" }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (key, changed) in [("a", "z"), ("b", "y"), ("c", "x")] {
                let statement = SharedStatement(text, [.text(key)], changing: changed)
                tasks.addTask {
                    _ = try await withCheckedThrowingContinuation { continuation in
                        _ = try? sharing.append(.init(statement: statement, continuation: continuation))
                    }
                }
            }
            for _ in 0..<12000 where sharing.waiting < 3 { try await Task.sleep(for: .milliseconds(10)) }
            let batch = try #require(sharing.next())
            #expect(batch.map(\.statement.key) == ["c", "b", "a"])
            for pending in batch { pending.continuation.resume(returning: []) }
            try await tasks.waitForAll()
        }
    }

    @Test("find a closed store", arguments: StoreKind.all)
    func closed(kind: StoreKind) async throws {
        try await Self.run(kind) { store in
            try await store.close()
            await #expect(throws: StoreError.closed) { try await store.share(Self.statement(1)) }
        }
    }
}
