import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Database

/// What readers of the change log are given, on every engine.
@Suite struct ChangeLogTests {
    typealias Tries = PostgreSQLTests.Tries

    static let migrations = [Migration(identifier: 1, name: "change log", statements: [], createsChangeLog: true)]

    /// Reads on until nothing is left, in pages of a few changes.
    static func readOn(
        _ store: any Database, _ position: inout ChangePosition, limit: Int = 7
    ) async throws -> [LoggedChange] {
        var found: [LoggedChange] = []
        for _ in 0..<10_000 {
            let reading = try await store.changes(after: position, limit: limit)
            try #require(!reading.isInterrupted)
            #expect(reading.changes.count <= limit)
            found += reading.changes
            position = reading.position
            if !reading.hasMore { return found }
        }
        Issue.record("the log has no end")
        return found
    }

    static func append(_ store: any Database, _ keys: [UInt8]) async throws {
        try await store.write { transaction in
            for key in keys { try transaction.appendChange(kind: 3, key: [key]) }
        }
    }

    @Test(
        "A change is given once, after its commit, and never where its transaction was taken back",
        arguments: StoreKind.all)
    func once(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            try await Self.append(store, [1])
            var position = try await store.changePosition()
            #expect(try await Self.readOn(store, &position) == [])
            try await Self.append(store, [2, 3])
            await #expect(throws: TransactionTests.Interruption()) {
                try await store.write { transaction in
                    try transaction.appendChange(kind: 3, key: [4])
                    throw TransactionTests.Interruption()
                }
            }
            try await Self.append(store, [5, 6, 7, 8, 9])
            let changes = try await Self.readOn(store, &position, limit: 2)
            #expect(changes.map(\.key) == [[2], [3], [5], [6], [7], [8], [9]])
            #expect(changes.allSatisfy { $0.kind == 3 })
            #expect(try await Self.readOn(store, &position) == [])
            try await Self.append(store, [10])
            #expect(try await Self.readOn(store, &position).map(\.key) == [[10]])
        }
    }

    /// What a writer's transactions wrote and committed, in their order.
    private static func work(_ writer: UInt8, on store: any Database, rounds: Int) async throws -> [[UInt8]] {
        var (random, committed, number) = (SeededRandom(seed: UInt64(writer) + 1), [[UInt8]](), UInt16(0))
        for _ in 0..<rounds {
            let count = Int.random(in: 1...3, using: &random)
            let keys = (0..<count).map { _ -> [UInt8] in
                number += 1
                return [writer, UInt8(number >> 8), UInt8(number & 0xff)]
            }
            let (pause, isAborted) = (
                Double.random(in: 0...0.004, using: &random), Int.random(in: 0..<10, using: &random) == 0
            )
            do {
                try await store.write { transaction in
                    for key in keys {
                        try transaction.appendChange(kind: 1, key: key)
                        // The number of the transaction is taken, and its commit comes later.
                        _ = try transaction.first("SELECT 1")
                        Thread.sleep(forTimeInterval: pause)
                    }
                    if isAborted { throw TransactionTests.Interruption() }
                }
                committed += keys
            } catch is TransactionTests.Interruption {}
        }
        return committed
    }

    @Test(
        "Twelve writers with pauses and aborts: no change is missed, none given twice, and each writer's keep their order",
        arguments: StoreKind.shared)
    func crowd(kind: StoreKind) async throws {
        try await withTemporaryDirectory { directory in
            let store = try Self.open(kind, directory)
            try await store.migrate(Self.migrations)
            var position = try await store.changePosition()
            let isOver = Mutex(false)
            // On a server one transaction is open all the while, and has the lowest number.
            let (begun, gate) = (Tries(), DispatchSemaphore(value: 0))
            let long = Task {
                guard kind.description == StoreKind.postgresql.description else { return }
                try await store.write { transaction in
                    try transaction.appendChange(kind: 2, key: [99])
                    _ = try transaction.first("SELECT 1")
                    begun.begin()
                    _ = gate.wait(timeout: .now() + 120)
                }
            }
            if kind.description == StoreKind.postgresql.description { try await reach { begun.count == 1 } }
            let writers = Task {
                defer { isOver.withLock { $0 = true } }
                return try await withThrowingTaskGroup { group in
                    for writer in 0..<12 {
                        group.addTask { try await Self.work(UInt8(writer), on: store, rounds: 60) }
                    }
                    return try await group.reduce(into: [[[UInt8]]]()) { $0.append($1) }
                }
            }
            var found: [LoggedChange] = []
            while !isOver.withLock({ $0 }) { found += try await Self.readOn(store, &position) }
            let committed = try await writers.value
            found += try await Self.readOn(store, &position)
            // Whoever stays open delays its own changes alone.
            #expect(found.count == committed.joined().count)
            gate.signal()
            try await long.value
            let late = try await Self.readOn(store, &position)
            #expect(late.map(\.key) == (kind.description == StoreKind.postgresql.description ? [[99]] : []))
            for keys in committed {
                let writer = keys[0][0]
                #expect(found.filter { $0.kind == 1 && $0.key[0] == writer }.map(\.key) == keys)
            }
            try await store.close()
        }
    }

    private static func open(_ kind: StoreKind, _ directory: URL) throws -> any Database {
        guard kind.description == StoreKind.postgresql.description else {
            return try kind.open(directory) { Date(timeIntervalSince1970: 0) }
        }
        var lanes = LaneSizes()
        lanes.writes = 13
        let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
        return PostgreSQLDatabase(try PostgreSQLAddress(address), lanes: lanes)
    }

    @Test("A foreign transaction that stays open delays nobody, and its age can be read")
    func foreign() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            try await withTemporaryDirectory { directory in
                let foreign = try StoreKind.postgresql.open(directory) { Date() }
                try await foreign.migrate([PostgreSQLTests.accounts])
                var position = try await store.changePosition()
                let (begun, gate) = (Tries(), DispatchSemaphore(value: 0))
                let holder = Task {
                    try await foreign.write { transaction in
                        try transaction.execute("UPDATE accounts SET balance = 0 WHERE id = 1")
                        begun.begin()
                        _ = gate.wait(timeout: .now() + 120)
                    }
                }
                try await reach { begun.count == 1 }
                for number in 1...20 {
                    try await Self.append(store, [UInt8(number)])
                    #expect(try await Self.readOn(store, &position).map(\.key) == [[UInt8(number)]])
                }
                var age = 0.0
                for _ in 0..<1000 where age == 0 {
                    let reading = try await store.changes(after: position, limit: 10)
                    (position, age) = (reading.position, reading.horizonAge)
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(age > 0)
                gate.signal()
                try await holder.value
                try await foreign.close()
            }
        }
    }

    @Test(
        "What every reader has read can be purged, nothing else, and readers notice nothing",
        arguments: StoreKind.shared)
    func purge(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            let count = { try await store.read { try $0.first("SELECT count(*) FROM change_log")?.integer(0) } }
            let slow = try await store.changePosition()
            var position = slow
            try await Self.append(store, [1, 2, 3])
            #expect(try await Self.readOn(store, &position).count == 3)
            if kind.description == StoreKind.postgresql.description {
                // As if they had been written half an hour ago.
                try await store.write { try $0.execute("UPDATE change_log SET slot = (slot + 3) % 6") }
            }
            try await Self.append(store, [4])
            #expect(try await Self.readOn(store, &position).map(\.key) == [[4]])
            try await store.purgeChanges(below: [])
            try await store.purgeChanges(below: [position, slow])
            // With the one that every log begins with.
            #expect(try await count() == 5)
            // A table that somebody uses is left for the next time, and all behind a transaction that is open anywhere.
            for _ in 0..<600 {
                guard try await count() != 1 else { break }
                #expect(try await Self.readOn(store, &position) == [])
                let kept = try #require(ChangePosition(text: position.text))
                try await store.purgeChanges(below: [kept])
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await count() == 1)
            try await Self.append(store, [5])
            #expect(try await Self.readOn(store, &position).map(\.key) == [[5]])
        }
    }

    @Test(
        "A reader that began at the start of a log notices that what it has not read was purged",
        arguments: StoreKind.shared
    )
    func left(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            let slow = try await store.changePosition()
            try await Self.append(store, [1, 2, 3])
            if kind.description == StoreKind.postgresql.description {
                try await store.write { try $0.execute("UPDATE change_log SET slot = (slot + 3) % 6") }
            }
            try await Self.append(store, [4])
            var others = try await store.changePosition()
            for _ in 0..<600 {
                guard try await !store.changes(after: slow, limit: 10).isInterrupted else { break }
                #expect(try await Self.readOn(store, &others) == [])
                try await store.purgeChanges(below: [others])
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await store.changes(after: slow, limit: 10).isInterrupted)
            #expect(try await !store.changes(after: others, limit: 10).isInterrupted)
        }
    }

    @Test("What was read shows a heartbeat that was committed before, and none that came later")
    func heartbeat() async throws {
        try await withStore(.postgresql, migrations: Self.migrations) { store async throws in
            let start = try await store.changePosition()
            let first = try #require(try await store.heartbeat())
            #expect(!start.shows(first))
            let read = try await store.changes(after: start, limit: 10).position
            let second = try #require(try await store.heartbeat())
            #expect(read.shows(first) && !read.shows(second))
            // One whose number another server gave.
            #expect(!read.shows(Heartbeat(transaction: first.transaction, server: first.server + 1)))
            // It takes no table, which might be locked, or have no room.
            #expect(try await store.read { try $0.first("SELECT count(*) FROM change_log")?.integer(0) } == 1)
            try await Self.append(store, [1, 2])
            var page = try await store.changes(after: read, limit: 1).position
            #expect(!page.shows(second))
            _ = try await Self.readOn(store, &page, limit: 1)
            #expect(page.shows(second))
        }
        try await withStore(.sqlite, migrations: Self.migrations) { store async throws in
            #expect(try await store.heartbeat() == nil)
        }
    }

    @Test("A position survives as text, and other texts are none")
    func text() async throws {
        try await withStore(.sqlite, migrations: Self.migrations) { store async throws in
            let empty = try await store.changePosition()
            #expect(ChangePosition(text: empty.text) == empty)
            try await Self.append(store, [1])
            let position = try await store.changePosition()
            #expect(ChangePosition(text: position.text) == position && position != empty)
        }
        for wrong in ["", "a", "a/b", "a/b/c", "a/b/1/2", "a/b/1/2/x", "a/b/1/2/3/4"] {
            #expect(ChangePosition(text: wrong) == nil, "\(wrong)")
        }
    }

    @Test("The log is no part of a store's copy", arguments: StoreKind.shared)
    func tables(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Self.migrations) { store async throws in
            #expect(try await store.tables().map(\.name) == ["schema_migrations"])
        }
    }
}
