import Fixtures
import Testing

@testable import Database

/// What a reader is told when the log, or the server that keeps it, is not the one that was read before.
extension ChangeLogTests {
    @Test(
        "A log that was put back, or renewed, is noticed, and reading goes on from its end",
        arguments: StoreKind.all,
        [
            "UPDATE change_log SET tag = tag + 1", "DELETE FROM change_log",
            "UPDATE change_log_incarnation SET value = 'another'",
        ])
    func restored(kind: StoreKind, change: String) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            var position = try await store.changePosition()
            try await Self.append(store, [1, 2])
            #expect(try await Self.readOn(store, &position).count == 2)
            try await store.write { try $0.execute(change) }
            try await Self.append(store, [3])
            let reading = try await store.changes(after: position, limit: 10)
            #expect(reading.isInterrupted && reading.changes.isEmpty)
            position = reading.position
            #expect(try await Self.readOn(store, &position) == [])
            try await Self.append(store, [4])
            #expect(try await Self.readOn(store, &position).map(\.key) == [[4]])
            try await store.write { try $0.renewChangeLog() }
            #expect(try await store.changes(after: position, limit: 10).isInterrupted)
        }
    }

    @Test("A server that has counted fewer transactions than its log names was filled from a dump")
    func dump() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            var position = try await store.changePosition()
            try await store.write { transaction in
                try transaction.execute(
                    "INSERT INTO change_log (xid, n, tag, kind, key) VALUES ('99999999', 1, 1, 3, ''::bytea)")
            }
            #expect(try await Self.readOn(store, &position).count == 1)
            #expect(try await store.changes(after: position, limit: 10).isInterrupted)
        }
    }

    @Test("Numbers that a server gives out again after a crash are read, whatever a reader saw of them before")
    func reused() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            try await Self.append(store, [1])
            let parts = try await store.changePosition().text.split(separator: "/", omittingEmptySubsequences: false)
            // The reader's last snapshot ended far behind the numbers that are given out now.
            var text = parts.map(String.init)
            text[1] = "99999999:99999999:"
            var position = try #require(ChangePosition(text: text.joined(separator: "/")))
            try await Self.append(store, [2])
            #expect(try await Self.readOn(store, &position).map(\.key) == [[2]])
        }
    }

    @Test("A server that took over is noticed by its timeline")
    func timeline() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            try await Self.append(store, [1])
            let text = try await store.changePosition().text
            let same = try #require(ChangePosition(text: text))
            #expect(try await !store.changes(after: same, limit: 10).isInterrupted)
            let other = try #require(ChangePosition(text: text.replacing(".00000001/", with: ".00000002/")))
            #expect(other != same)
            #expect(try await store.changes(after: other, limit: 10).isInterrupted)
        }
    }

    @Test("What another server says than that of the log is not taken, and what that one says is again")
    func followed() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            let start = try await store.changePosition()
            _ = try await store.read { try $0.first("SELECT 1") }
            let server = try #require(store as? PostgreSQLDatabase)
            server.followed.follow("log.00000009")
            let unavailable = StoreError.unavailable(reason: "")
            await #expect(throws: unavailable) { try await store.read { try $0.first("SELECT 1") } }
            await #expect(throws: unavailable) { try await store.query("SELECT 1", []) }
            #expect(try await !store.changes(after: start, limit: 10).isInterrupted)
            _ = try await store.read { try $0.first("SELECT 1") }
            // The log's reader moves to another server while something is read.
            await #expect(throws: unavailable) {
                try await store.read { transaction in
                    _ = try transaction.first("SELECT 1")
                    server.followed.follow("log.00000009")
                }
            }
        }
    }
}
