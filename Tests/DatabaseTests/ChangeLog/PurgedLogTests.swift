import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Database

/// What readers of the change log notice of a purge that was made without them.
@Suite struct PurgedLogTests {
    private static let migrations = ChangeLogTests.migrations

    /// Puts entries of a server's log where those of half an hour ago are.
    private static func age(_ keys: [UInt8], in store: any Database) async throws {
        guard store is PostgreSQLDatabase else { return }
        try await store.write { transaction in
            for key in keys {
                try transaction.execute("UPDATE change_log SET slot = (slot + 3) % 6 WHERE key = $1", [.bytes([key])])
            }
        }
    }

    private static func has(_ key: UInt8, _ store: any Database) async throws -> Bool {
        try await store.read { try $0.first("SELECT 1 FROM change_log WHERE key = $1", [.bytes([key])]) != nil }
    }

    /// Purges below what is read at that moment until an entry is gone: a part of the log that somebody uses is left for
    /// the next time, as is everything behind a transaction that is open anywhere on the server.
    ///
    /// - Returns: the position of who has read everything.
    private static func purge(_ key: UInt8, in store: any Database) async throws -> ChangePosition {
        for _ in 0..<2400 {
            let present = try await store.changePosition()
            try await store.purgeChanges(below: [present])
            if try await !has(key, store) { return present }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw PurgeFailed()
    }

    private struct PurgeFailed: Error {}

    @Test(
        "A reader that was away is told of entries that were purged, though its own last one was left",
        arguments: StoreKind.shared)
    func away(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            var away = try await store.changePosition()
            try await ChangeLogTests.append(store, [1])
            #expect(try await ChangeLogTests.readOn(store, &away).map(\.key) == [[1]])
            try await ChangeLogTests.append(store, [2, 3])
            try await Self.age([2, 3], in: store)
            try await ChangeLogTests.append(store, [4])
            let others = try await Self.purge(3, in: store)
            #expect(try await Self.has(1, store) == (store is PostgreSQLDatabase))
            let reading = try await store.changes(after: away, limit: 10)
            #expect(reading.isInterrupted && reading.changes.isEmpty)
            #expect(try await !store.changes(after: reading.position, limit: 10).isInterrupted)
            #expect(try await !store.changes(after: others, limit: 10).isInterrupted)
            // A later purge for others that are behind does not make it forget.
            try await store.purgeChanges(below: [away])
            #expect(try await store.changes(after: away, limit: 10).isInterrupted)
        }
    }

    @Test("So is one that waited for a transaction, whose entry is kept while a reader in service waits for it")
    func open() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            let (begun, gate) = (ChangeLogTests.Tries(), DispatchSemaphore(value: 0))
            let slow = Task {
                try await store.write { transaction in
                    try transaction.appendChange(kind: 3, key: [9])
                    _ = try transaction.first("SELECT 1")
                    begun.begin()
                    _ = gate.wait(timeout: .now() + 120)
                }
            }
            try await reach { begun.count == 1 }
            try await ChangeLogTests.append(store, [1])
            let away = try await store.changePosition()
            gate.signal()
            try await slow.value
            try await Self.age([9], in: store)
            try await ChangeLogTests.append(store, [4])
            for _ in 0..<5 { try await store.purgeChanges(below: [try await store.changePosition(), away]) }
            #expect(try await Self.has(9, store))
            let others = try await Self.purge(9, in: store)
            #expect(try await Self.has(1, store))
            #expect(try await store.changes(after: away, limit: 10).isInterrupted)
            #expect(try await !store.changes(after: others, limit: 10).isInterrupted)
        }
    }

    @Test("A reader that begins while a transaction is open waits for it, whatever is purged meanwhile")
    func beginner() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            try await ChangeLogTests.append(store, [1])
            try await Self.age([1], in: store)
            try await ChangeLogTests.append(store, [2])
            let number = Mutex<Int64?>(nil)
            let gate = DispatchSemaphore(value: 0)
            let slow = Task {
                try await store.write { transaction in
                    try transaction.appendChange(kind: 3, key: [9])
                    let sql = "SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)"
                    let own = try transaction.first(sql)?.integer(0)
                    number.withLock { $0 = own }
                    _ = gate.wait(timeout: .now() + 120)
                }
            }
            try await reach { number.withLock { $0 } != nil }
            try await ChangeLogTests.append(store, [3])
            var beginner = try await store.changePosition()
            // An earlier transaction of another test would hold it back as well, and the purge no longer once it is over.
            for _ in 0..<12000 {
                guard let base = PostgreSQLSnapshot(beginner.snapshot), base.lowest != number.withLock({ $0 }) else {
                    break
                }
                try await Task.sleep(for: .milliseconds(10))
                beginner = try await store.changePosition()
            }
            // Whatever is purged now is below the transaction that it waits for.
            for _ in 0..<20 { try await store.purgeChanges(below: [try await store.changePosition()]) }
            #expect(try await ChangeLogTests.readOn(store, &beginner) == [])
            gate.signal()
            try await slow.value
            #expect(try await ChangeLogTests.readOn(store, &beginner).map(\.key) == [[9]])
        }
    }

    @Test("A reader between two pages keeps what a transaction may still write that was open at the first")
    func pages() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            var reader = try await store.changePosition()
            try await ChangeLogTests.append(store, [1])
            let (begun, gate) = (ChangeLogTests.Tries(), DispatchSemaphore(value: 0))
            let slow = Task {
                try await store.write { transaction in
                    try transaction.appendChange(kind: 3, key: [9])
                    _ = try transaction.first("SELECT 1")
                    begun.begin()
                    _ = gate.wait(timeout: .now() + 120)
                }
            }
            try await reach { begun.count == 1 }
            try await ChangeLogTests.append(store, [2])
            for key in [1, 2] as [UInt8] {
                let reading = try await store.changes(after: reader, limit: 1)
                #expect(reading.changes.map(\.key) == [[key]] && reading.hasMore)
                reader = reading.position
            }
            gate.signal()
            try await slow.value
            try await Self.age([9], in: store)
            for _ in 0..<5 { try await store.purgeChanges(below: [reader]) }
            #expect(try await Self.has(9, store))
            // The pages show what the first of them saw.
            #expect(try await ChangeLogTests.readOn(store, &reader).isEmpty)
            #expect(try await ChangeLogTests.readOn(store, &reader).map(\.key) == [[9]])
        }
    }

    @Test("A position that was read from another server says nothing of this log")
    func elsewhere() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            try await ChangeLogTests.append(store, [1])
            try await Self.age([1], in: store)
            try await ChangeLogTests.append(store, [2])
            let present = try await store.changePosition()
            var other = present
            other.incarnation += "9"
            other.last?.transaction += 1_000_000
            for _ in 0..<5 { try await store.purgeChanges(below: [other]) }
            #expect(try await Self.has(1, store))
            #expect(try await !store.changes(after: present, limit: 10).isInterrupted)
        }
    }

    @Test(
        "A log that was renewed has purged nothing, whatever numbers the server gives out",
        arguments: StoreKind.shared)
    func renewed(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            try await store.write { transaction in
                try transaction.execute("UPDATE change_log_incarnation SET purged_below = 99999999")
                try transaction.renewChangeLog()
            }
            var position = try await store.changePosition()
            try await ChangeLogTests.append(store, [1])
            #expect(try await ChangeLogTests.readOn(store, &position).map(\.key) == [[1]])
        }
    }
}
