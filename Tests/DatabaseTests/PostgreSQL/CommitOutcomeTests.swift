import Fixtures
import Foundation
import Testing

@testable import Database

/// What the caller of a write is told, by what the server answers to its commit.
@Suite struct CommitOutcomeTests {
    private typealias Tries = PostgreSQLTests.Tries

    /// Runs a body over a store behind a proxy that gives an answer of its own to the next commits, and beside it the
    /// same store without the proxy.
    private static func withProxy(
        answer: String, fate: String, count: Int = 1,
        _ body: (_ store: PostgreSQLDatabase, _ direct: PostgreSQLDatabase) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let server = try #require(try PostgreSQLCluster.shared.connection.dropFirst().first)
            let direct = PostgreSQLDatabase(try PostgreSQLAddress(address))
            try await direct.migrate([PostgreSQLTests.accounts])
            let socket = "/.s.PGSQL.5432"
            let proxy = try await PythonProcess(
                "Stores/store_commit_proxy.py", [directory.path + socket, server + socket, answer, fate, "\(count)"])
            let store = PostgreSQLDatabase(
                try PostgreSQLAddress(address.replacingOccurrences(of: server, with: directory.path)))
            try await body(store, direct)
            try await store.close()
            try await direct.close()
            withExtendedLifetime(proxy) {}
        }
    }

    private static func spend(_ store: PostgreSQLDatabase, _ tries: Tries) async throws {
        try await store.write { transaction in
            tries.begin()
            try transaction.execute("UPDATE accounts SET balance = balance - 1 WHERE id = 1")
        }
    }

    private static func balance(_ store: PostgreSQLDatabase) async throws -> Int64? {
        try await store.read { try $0.first("SELECT balance FROM accounts WHERE id = 1")?.integer(0) }
    }

    @Test(
        "An answer that may follow a commit that took place leaves the outcome unknown, and nothing is run again",
        arguments: [
            "57014", "57P01", "57P02", "57P03", "08006", "08007", "40003", "40002", "25006", "25P03", "26000", "53100",
            "53200", "58030", "XX000", "XX001", "0A000", "42501", "22000", "99999", "tag:NOTHING", "close",
        ], ["kept", "undone"])
    func unknown(answer: String, fate: String) async throws {
        try await Self.withProxy(answer: answer, fate: fate) { store, direct async throws in
            let tries = Tries()
            await #expect(throws: StoreError.outcomeUnknown(reason: "")) { try await Self.spend(store, tries) }
            #expect(tries.count == 1)
            #expect(try await Self.balance(direct) == (fate == "kept" ? 99 : 100))
            // The connection is made anew, and the next writer finds nothing wrong.
            try await Self.spend(store, tries)
            #expect(try await Self.balance(direct) == (fate == "kept" ? 98 : 99))
        }
    }

    @Test(
        "An answer that says that nothing was kept is told as what it says",
        arguments: [
            ("23505", .constraint(kind: .unique)), ("23503", .constraint(kind: .foreignKey)),
            ("23514", .constraint(kind: .check)), ("23502", .constraint(kind: .notNull)),
            ("25P02", .unavailable(reason: "")), ("tag:ROLLBACK", .unavailable(reason: "")),
        ] as [(String, StoreError)])
    func refused(answer: String, expected: StoreError) async throws {
        try await Self.withProxy(answer: answer, fate: "undone") { store, direct async throws in
            let tries = Tries()
            await #expect(throws: expected) { try await Self.spend(store, tries) }
            #expect(tries.count == 1)
            #expect(try await Self.balance(direct) == 100)
            try await Self.spend(store, tries)
            #expect(try await Self.balance(direct) == 99)
        }
    }

    @Test("A commit that was taken back because of others is run again and kept once", arguments: ["40001", "40P01"])
    func conflict(answer: String) async throws {
        try await Self.withProxy(answer: answer, fate: "undone", count: 3) { store, direct async throws in
            let tries = Tries()
            try await Self.spend(store, tries)
            #expect(tries.count == 4)
            #expect(try await Self.balance(direct) == 99)
        }
    }

    /// Takes one from the balance, in a transaction with others of its kind.
    private static func share(_ store: PostgreSQLDatabase) async throws -> Int {
        let text = SharedText(parameters: 1) { _ in
            "UPDATE accounts SET balance = balance - CAST($1 AS BIGINT) WHERE id = 1 RETURNING balance"
        }
        return try await store.share(SharedStatement(text, [.integer(1)])).count
    }

    @Test(
        "A statement that goes with others has the same outcome by the same answers",
        arguments: ["57014", "57P01", "08006", "40003", "53100", "XX000", "tag:NOTHING", "close"], ["kept", "undone"])
    func shared(answer: String, fate: String) async throws {
        try await Self.withProxy(answer: answer, fate: fate) { store, direct async throws in
            await #expect(throws: StoreError.outcomeUnknown(reason: "")) { try await Self.share(store) }
            #expect(try await Self.balance(direct) == (fate == "kept" ? 99 : 100))
            #expect(try await Self.share(store) == 1)
            #expect(try await Self.balance(direct) == (fate == "kept" ? 98 : 99))
        }
    }

    @Test("The end of a read has no outcome that could be unknown", arguments: ["57P01", "XX000", "close"])
    func read(answer: String) async throws {
        try await Self.withProxy(answer: answer, fate: "kept", count: 1000) { store, _ async throws in
            await #expect(throws: StoreError.unavailable(reason: "")) { try await Self.balance(store) }
        }
    }
}
