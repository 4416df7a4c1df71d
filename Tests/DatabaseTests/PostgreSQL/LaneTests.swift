import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Database

/// Who waits for whom.
@Suite struct LaneTests {
    private typealias Tries = PostgreSQLTests.Tries

    private static func open(_ directory: URL, _ change: (inout LaneSizes) -> Void) throws -> PostgreSQLDatabase {
        var lanes = LaneSizes()
        change(&lanes)
        let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
        var timeouts = PostgreSQLTimeouts()
        // A machine that is busy is slow, and none of these tests is about time.
        timeouts.statement = 60
        return PostgreSQLDatabase(try PostgreSQLAddress(address), lanes: lanes, timeouts: timeouts)
    }

    @Test("While every connection that writes and reads is taken, an administrator's write and read go through")
    func administration() async throws {
        try await withTemporaryDirectory { directory in
            let store = try Self.open(directory) { ($0.writes, $0.reads) = (2, 2) }
            try await store.migrate([PostgreSQLTests.accounts])
            let (begun, gate) = (Tries(), DispatchSemaphore(value: 0))
            let hold: @Sendable (any Transaction) throws -> Bool = { transaction in
                _ = try transaction.first("SELECT 1")
                begun.begin()
                return gate.wait(timeout: .now() + 120) == .success
            }
            let holders = (0..<2).flatMap { _ in
                [Task { try await store.write(hold) }, Task { try await store.read(hold) }]
            }
            try await reach { begun.count == holders.count }
            try await store.write(on: .administration) { try $0.execute("DELETE FROM accounts WHERE id = 1") }
            let left = try await store.read(on: .administration) { try $0.query("SELECT id FROM accounts").count }
            #expect(left == 1)
            for _ in holders { gate.signal() }
            for holder in holders { #expect(try await holder.value) }
            try await store.close()
        }
    }

    @Test("On an engine with one writer an administrator's write is the next one")
    func priority() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.db").path
            let store = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) })
            let (begun, gate) = (Tries(), DispatchSemaphore(value: 0))
            let order = Order()
            let holder = Task {
                try await store.write { _ in
                    begun.begin()
                    _ = gate.wait(timeout: .now() + 120)
                }
            }
            try await reach { begun.count == 1 }
            let usual = (0..<600).map { _ in Task { try await store.write { _ in order.add(.usual) } } }
            try await reach { store.writer.waiting == 600 }
            let urgent = Task { try await store.write(on: .administration) { _ in order.add(.administration) } }
            try await reach { store.writer.waiting == 601 }
            gate.signal()
            try await holder.value
            for task in usual + [urgent] { try await task.value }
            #expect(order.all.first == .administration)
            #expect(order.all.count == 601)
            try await store.close()
        }
    }

    @Test("Who waits before a next attempt has no connection: others use it meanwhile")
    func backOff() async throws {
        try await withTemporaryDirectory { directory in
            let store = try Self.open(directory) { $0.writes = 1 }
            try await store.migrate([PostgreSQLTests.accounts])
            let (tries, served) = (Tries(), Tries())
            // It is taken back by the server until somebody else was served ten times.
            let writer = Task {
                try await store.write { transaction in
                    tries.begin()
                    guard served.count < 10 else { return }
                    try transaction.execute("DO 'BEGIN RAISE EXCEPTION SQLSTATE ''40001''; END'")
                }
            }
            try await reach { tries.count > 0 }
            for _ in 0..<10 {
                try await store.write { try $0.execute("UPDATE accounts SET balance = balance + 1 WHERE id = 1") }
                served.begin()
            }
            try await writer.value
            #expect(tries.count > 1)
            let balance = try await store.read { try $0.first("SELECT balance FROM accounts WHERE id = 1") }
            #expect(balance == Row([110]))
            try await store.close()
        }
    }

    @Test("A store that is closed while somebody waits before a next attempt finishes that one first")
    func closing() async throws {
        try await withTemporaryDirectory { directory in
            let store = try Self.open(directory) { $0.writes = 2 }
            try await store.migrate([PostgreSQLTests.accounts])
            let tries = Tries()
            let writer = Task {
                try await store.write { transaction in
                    guard tries.begin() < 12 else { return }
                    try transaction.execute("DO 'BEGIN RAISE EXCEPTION SQLSTATE ''40001''; END'")
                }
            }
            try await reach { tries.count >= 3 }
            try await store.close()
            #expect(tries.count == 12)
            try await writer.value
        }
    }

    private static func countSleepers(_ mark: String) throws -> String {
        try PostgreSQLCluster.shared.run(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%\(mark)%' "
                + "AND pid <> pg_backend_pid()")
    }

    static func waitFor(_ mark: String, sleepers: Int) async throws {
        try await reach { try countSleepers(mark) == "\(sleepers)\n" }
    }

    @Test("A reader who gives up has the server give up too, and the next one is served")
    func givenUp() async throws {
        try await withTemporaryDirectory { directory in
            let store = try Self.open(directory) { $0.reads = 1 }
            let mark = "mark_\(UInt32.random(in: 0...UInt32.max))"
            let reader = Task { try await store.read { try $0.query("SELECT pg_sleep(50) AS \(mark)") } }
            try await Self.waitFor(mark, sleepers: 1)
            // It waits in line, and is not run at all.
            let second = Task { try await store.read { try $0.query("SELECT pg_sleep(50) AS \(mark)") } }
            second.cancel()
            reader.cancel()
            await #expect(throws: StoreError.unavailable(reason: "")) { try await reader.value }
            await #expect(throws: StoreError.unavailable(reason: "")) { try await second.value }
            try await Self.waitFor(mark, sleepers: 0)
            #expect(try await store.read { try $0.first("SELECT 1") } == Row([1]))
            try await store.close()
        }
    }

    @Test("What is given up for its time is given up on the server too")
    func late() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLAddress(
                try PostgreSQLCluster.shared.address(of: directory.lastPathComponent))
            var timeouts = PostgreSQLTimeouts()
            (timeouts.statement, timeouts.grace) = (4, 1)
            let store = PostgreSQLDatabase(address, timeouts: timeouts)
            let (mark, tries) = ("mark_\(UInt32.random(in: 0...UInt32.max))", Tries())
            await #expect(throws: TransactionTests.Interruption()) {
                try await store.read { transaction in
                    guard tries.begin() == 1 else { throw TransactionTests.Interruption() }
                    try transaction.execute("SET LOCAL statement_timeout = 0")
                    _ = try transaction.query("SELECT pg_sleep(60) AS \(mark)")
                }
            }
            try await Self.waitFor(mark, sleepers: 0)
            try await store.close()
        }
    }

    @Test("A page's statement is given up after its own time limit, while others may take longer, and its lane goes on")
    func pages() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLAddress(
                try PostgreSQLCluster.shared.address(of: directory.lastPathComponent))
            var timeouts = PostgreSQLTimeouts()
            (timeouts.statement, timeouts.page) = (60, 1)
            var lanes = LaneSizes()
            lanes.console = 1
            let store = PostgreSQLDatabase(address, lanes: lanes, timeouts: timeouts)
            await #expect(throws: StoreError.unavailable(reason: "")) {
                _ = try await store.read(on: .console) { try $0.query("SELECT pg_sleep(50)") }
            }
            for (lane, limit) in [(Lane.console, "1s"), (.usual, "1min"), (.administration, "1min")] {
                let row = try await store.read(on: lane) {
                    try $0.first("SELECT current_setting('statement_timeout'), current_setting('jit')")
                }
                #expect(row == Row([.text(limit), "off"]))
            }
            await #expect(throws: StoreError.self) {
                _ = try await store.read(on: .console) { try $0.query("DELETE FROM accounts") }
            }
            try await store.close()
        }
    }

    /// In which order bodies were run.
    private final class Order: Sendable {
        private let lanes = Mutex<[Lane]>([])
        var all: [Lane] { lanes.withLock { $0 } }
        func add(_ lane: Lane) { lanes.withLock { $0.append(lane) } }
    }

    @Test(
        "An address says how many connections each lane has, and libpq does not see it",
        arguments: [
            ("postgresql://h/d?read_connections=5", [5, 8, 2, 2]),
            ("postgresql://h/d?sslmode=require&write_connections=20&application_name=x", [4, 20, 2, 2]),
            ("postgresql://h/d?administration_connections=3&sslmode=require&read_connections=1", [1, 8, 3, 2]),
            ("postgresql://h/d?console_connections=6", [4, 8, 2, 6]), ("postgresql://h/d", [4, 8, 2, 2]),
        ])
    func sizes(address: String, sizes: [Int]) throws {
        let address = try PostgreSQLAddress(address)
        let lanes = address.lanes
        #expect([lanes.reads, lanes.writes, lanes.administration, lanes.console] == sizes)
        #expect(address.place == "postgresql://h/d")
        #expect(!address.reveal().contains("connections"))
    }

    @Test("A number of connections that is none is refused", arguments: ["", "0", "1001", "x", "-1"])
    func wrongSize(value: String) {
        #expect(throws: StoreError.url(reason: "")) {
            try PostgreSQLAddress("postgresql://h/d?sslmode=require&read_connections=\(value)")
        }
    }
}
