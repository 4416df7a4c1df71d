import Fixtures
import Foundation
import Testing

@testable import Database

/// Writers that share a commit do not notice one another.
@Suite struct CombinedCommitTests {
    struct Interruption: Error, Equatable {}

    /// Holds the writer's connection back until all of these bodies wait, so that they share the commits that follow.
    /// Returns each body's outcome, and how many commits they took.
    private static func combine(
        on store: SQLiteDatabase, _ bodies: [@Sendable (any Transaction) throws -> Void]
    ) async throws -> (outcomes: [Result<Void, any Error>], commits: Int) {
        let released = DispatchSemaphore(value: 0)
        let begun = store.writer.begun
        let holder = Task {
            try await store.write { _ in
                _ = released.wait(timeout: .now() + 120)
            }
        }
        var writers: [Task<Void, any Error>] = []
        for (index, body) in bodies.enumerated() {
            // In order: the holder's batch is begun before the first body comes, and each waits before the next one.
            try await reach { store.writer.begun == begun + 1 && store.writer.waiting == index }
            writers.append(Task { try await store.write(body) })
        }
        try await reach { store.writer.waiting == bodies.count }
        let commits = store.writer.commits
        released.signal()
        try await holder.value
        var outcomes: [Result<Void, any Error>] = []
        for writer in writers {
            outcomes.append(await writer.result)
        }
        return (outcomes, store.writer.commits - commits - 1)
    }

    private static func reach(_ condition: () -> Bool) async throws {
        for _ in 0..<10_000 where !condition() {
            try await Task.sleep(for: .milliseconds(1))
        }
        try #require(condition())
    }

    private static func withSQLite(_ body: (SQLiteDatabase) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.db").path
            let store = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) })
            try await body(store)
            try await store.close()
        }
    }

    private static func insert(_ number: Int) -> @Sendable (any Transaction) throws -> Void {
        { try $0.execute("INSERT INTO things (id) VALUES ($1)", [Value(number)]) }
    }

    private static func numbers(_ store: SQLiteDatabase) async throws -> [Int64] {
        try await store.read { try $0.query("SELECT id FROM things ORDER BY id").map { try $0.integer(0) } }
    }
}

extension CombinedCommitTests {
    @Test(
        "Writers that wait together share commits, in bounded numbers",
        arguments: [(1, 1), (200, 1), (256, 1), (257, 2)])
    func sharing(writers: Int, commits: Int) async throws {
        try await Self.withSQLite { store in
            try await store.write { try $0.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)") }
            let result = try await Self.combine(on: store, (1...writers).map(Self.insert))
            #expect(result.commits == commits)
            #expect(result.outcomes.allSatisfy { if case .success = $0 { true } else { false } })
            #expect(try await Self.numbers(store) == (1...Int64(writers)).map(\.self))
        }
    }

    @Test("A body that fails takes back its own changes and nobody else's")
    func isolation() async throws {
        try await Self.withSQLite { store in
            try await store.write { try $0.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)") }
            let result = try await Self.combine(
                on: store,
                [
                    Self.insert(1),
                    { transaction in
                        try Self.insert(2)(transaction)
                        throw Interruption()
                    },
                    { transaction in
                        try Self.insert(3)(transaction)
                        try Self.insert(1)(transaction)
                    },
                    Self.insert(4),
                ])
            #expect(result.commits == 1)
            #expect(throws: Never.self) { try result.outcomes[0].get() }
            #expect(throws: Interruption()) { try result.outcomes[1].get() }
            #expect(throws: StoreError.constraint(kind: .unique)) { try result.outcomes[2].get() }
            #expect(throws: Never.self) { try result.outcomes[3].get() }
            #expect(try await Self.numbers(store) == [1, 4])
        }
    }

    @Test("Bodies that all fail cost no commit")
    func nothingKept() async throws {
        try await Self.withSQLite { store in
            try await store.write { try $0.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)") }
            let failing: @Sendable (any Transaction) throws -> Void = { transaction in
                try Self.insert(1)(transaction)
                throw Interruption()
            }
            let result = try await Self.combine(on: store, [failing, failing])
            #expect(result.commits == 0)
            for outcome in result.outcomes {
                #expect(throws: Interruption()) { try outcome.get() }
            }
            #expect(try await Self.numbers(store) == [])
        }
    }

    @Test("A commit that fails fails all who share it, the failed bodies too")
    func failingCommit() async throws {
        try await Self.withSQLite { store in
            try await store.write { transaction in
                try transaction.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)")
                try transaction.execute(
                    "CREATE TABLE parts (thing BIGINT REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)")
            }
            let result = try await Self.combine(
                on: store,
                [
                    Self.insert(1), { try $0.execute("INSERT INTO parts (thing) VALUES (9)") },
                    { _ in throw Interruption() },
                ])
            #expect(result.commits == 0)
            for outcome in result.outcomes {
                #expect(throws: StoreError.constraint(kind: .foreignKey)) { try outcome.get() }
            }
            #expect(try await Self.numbers(store) == [])
            try await store.write(Self.insert(2))
            #expect(try await Self.numbers(store) == [2])
        }
    }

    @Test("A full disk fails all who share the commit, and the next writer starts afresh")
    func fullDisk() async throws {
        try await Self.withSQLite { store in
            try await store.write { transaction in
                try transaction.execute("CREATE TABLE things (id BIGINT PRIMARY KEY, payload BYTEA)")
            }
            try await store.write { _ = try $0.query("PRAGMA max_page_count = 20") }
            let result = try await Self.combine(
                on: store,
                [
                    Self.insert(1),
                    {
                        try $0.execute(
                            "INSERT INTO things VALUES ($1, $2)", [2, .bytes(Array(repeating: 1, count: 1 << 20))])
                    },
                    Self.insert(3),
                ])
            #expect(result.commits == 0)
            for outcome in result.outcomes {
                #expect(throws: StoreError.unavailable(reason: "")) { try outcome.get() }
            }
            #expect(try await Self.numbers(store) == [])
            try await store.write(Self.insert(4))
            #expect(try await Self.numbers(store) == [4])
        }
    }

    @Test("Closing finishes the writes in line")
    func closing() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.db").path
            let store = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) })
            try await store.write { try $0.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)") }
            let released = DispatchSemaphore(value: 0)
            let holder = Task { try await store.write { _ in _ = released.wait(timeout: .now() + 120) } }
            try await Self.reach { store.writer.begun == 2 }
            let writer = Task { try await store.write(Self.insert(1)) }
            try await Self.reach { store.writer.waiting == 1 }
            let closing = Task { try await store.close() }
            try await Self.reach { store.writer.isClosed }
            released.signal()
            try await holder.value
            try await writer.value
            try await closing.value
            let reopened = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) })
            #expect(try await Self.numbers(reopened) == [1])
            try await reopened.close()
        }
    }
}
