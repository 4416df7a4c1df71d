import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Database

/// What only an engine with several writers at once, behind a connection, has to answer for.
@Suite struct PostgreSQLTests {
    /// How often a body was begun.
    final class Tries: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        @discardableResult func begin() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }

    static let accounts = Migration(
        identifier: 1, name: "accounts",
        statements: [
            "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)",
            "INSERT INTO accounts (id, balance) VALUES (1, 100), (2, 100)",
        ])

    @Test("Writers that read what the others change are run again until all are as if one after the other")
    func serializable() async throws {
        try await withStore(.postgresql, migrations: [Self.accounts]) { store in
            let begun = Tries()
            try await withThrowingTaskGroup { group in
                for number in 0..<40 {
                    group.addTask {
                        // Write skew: each is right alone, and two at once would take the sum below zero.
                        try await store.write { transaction in
                            begun.begin()
                            let sum = try transaction.query("SELECT balance FROM accounts").map { try $0.integer(0) }
                                .reduce(0, +)
                            guard sum >= 10 else { return }
                            try transaction.execute(
                                "UPDATE accounts SET balance = balance - 10 WHERE id = $1", [Value(number % 2 + 1)])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let balances = try await store.read { try $0.query("SELECT balance FROM accounts") }
            #expect(try balances.map { try $0.integer(0) }.reduce(0, +) == 0)
            #expect(begun.count >= 40)
        }
    }

    @Test("Two that wait for each other are parted by the server, and both succeed")
    func deadlock() async throws {
        try await withStore(.postgresql, migrations: [Self.accounts]) { store async throws in
            try await withThrowingTaskGroup { group in
                for (first, second) in [(1, 2), (2, 1)] {
                    group.addTask {
                        try await store.write { transaction in
                            let add = "UPDATE accounts SET balance = balance + 1 WHERE id = $1"
                            try transaction.execute(add, [Value(first)])
                            try transaction.execute("SELECT pg_sleep(0.1)")
                            try transaction.execute(add, [Value(second)])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let balances = try await store.read { try $0.query("SELECT balance FROM accounts") }
            #expect(balances == [Row([102]), Row([102])])
        }
    }

    @Test("A connection that was lost before the commit costs the caller nothing, and nothing is done twice")
    func lostConnection() async throws {
        try await withStore(.postgresql, migrations: [Self.accounts]) { store async throws in
            let tries = Tries()
            try await store.write { transaction in
                try transaction.execute("UPDATE accounts SET balance = balance + 1 WHERE id = 1")
                if tries.begin() == 1 {
                    try transaction.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            let balance = try await store.read { try $0.first("SELECT balance FROM accounts WHERE id = 1") }
            #expect(balance == Row([101]))
            #expect(tries.count == 2)
        }
    }

    @Test(
        "A connection that was lost during the commit leaves the outcome unknown: it is told, and nothing is run again")
    func lostCommit() async throws {
        try await withStore(.postgresql, migrations: [Self.accounts]) { store async throws in
            try await store.alter { transaction in
                // The server ends the connection while it commits.
                try transaction.execute(
                    """
                    CREATE FUNCTION leave() RETURNS TRIGGER LANGUAGE plpgsql AS
                    'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'
                    """)
                try transaction.execute(
                    """
                    CREATE CONSTRAINT TRIGGER leaving AFTER DELETE ON accounts DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION leave()
                    """)
            }
            let tries = Tries()
            await #expect(throws: StoreError.outcomeUnknown(reason: "")) {
                try await store.write { transaction in
                    tries.begin()
                    try transaction.execute("DELETE FROM accounts WHERE id = 1")
                }
            }
            #expect(tries.count == 1)
            try await store.write { try $0.execute("UPDATE accounts SET balance = 5 WHERE id = 2") }
        }
    }

    @Test("A body whose connection is lost every time is given up, and the store goes on")
    func alwaysLost() async throws {
        try await withStore(.postgresql, migrations: [Self.accounts]) { store async throws in
            await #expect(throws: StoreError.unavailable(reason: "")) {
                try await store.write { try $0.execute("SELECT pg_terminate_backend(pg_backend_pid())") }
            }
            try await store.check()
            try await store.write { try $0.execute("DELETE FROM accounts") }
        }
    }

    @Test("A database that is not in UTF8 is refused before anything is done, with the command that makes one")
    func encoding() async throws {
        let (cluster, name) = (try PostgreSQLCluster.shared, "latin-\(UUID().uuidString.prefix(8))")
        for (encoding, isRefused) in [("LATIN1", true), ("SQL_ASCII", true), ("UTF8", false)] {
            let store = PostgreSQLDatabase(try PostgreSQLAddress(cluster.newDatabase(name, encoding: encoding)))
            var refusal: StoreError?
            do {
                try await store.migrate([Self.accounts])
            } catch let error as StoreError {
                refusal = error
            }
            #expect((refusal == .url(reason: "")) == isRefused, "\(encoding)")
            let command = "createdb --template=template0 --encoding=UTF8"
            #expect((refusal?.description.contains(command) == true) == isRefused, "\(encoding)")
            try await store.close()
            try cluster.dropDatabase(name)
        }
    }

    @Test("A commit waits for the disk though the account's default says otherwise", arguments: ["off", "local"])
    func durable(setting: String) async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let store = PostgreSQLDatabase(try PostgreSQLAddress(address + "%20-csynchronous_commit%3D\(setting)"))
            #expect(try await store.read { try $0.first("SHOW synchronous_commit") } == Row(["on"]))
            try await store.close()
        }
    }

    @Test("A statement and a lock that take too long are given up")
    func timeouts() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLAddress(
                try PostgreSQLCluster.shared.address(of: directory.lastPathComponent))
            var timeouts = PostgreSQLTimeouts()
            (timeouts.statement, timeouts.lock) = (0.5, 0.2)
            let store = PostgreSQLDatabase(address, timeouts: timeouts)
            let patient = PostgreSQLDatabase(address)
            try await patient.migrate([Self.accounts])
            await #expect(throws: StoreError.unavailable(reason: "")) {
                try await store.read { try $0.execute("SELECT pg_sleep(30)") }
            }
            let (locked, locking) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            async let holder: Void = patient.write { transaction in
                try transaction.execute("UPDATE accounts SET balance = 0 WHERE id = 1")
                locking.finish()
                gate.wait()
            }
            for await _ in locked {}
            await #expect(throws: StoreError.unavailable(reason: "")) {
                try await store.write { try $0.execute("UPDATE accounts SET balance = 1 WHERE id = 1") }
            }
            gate.signal()
            try await holder
            try await store.close()
            try await patient.close()
        }
    }

    @Test("The time is the server's, one instant throughout a body")
    func serverClock() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let store = try StoreURL.parse(address).open { Date(timeIntervalSince1970: 0) }
            let (before, inside, after) = try await store.write { transaction in
                let before = transaction.now
                try transaction.execute("SELECT pg_sleep(0.01)")
                let row = try transaction.first("SELECT CAST(extract(epoch FROM now()) * 1000 AS BIGINT)")
                return (before, try row?.integer(0) ?? 0, transaction.now)
            }
            #expect(before == after)
            #expect(abs(before.timeIntervalSince1970 * 1000 - Double(inside)) <= 1)
            try await store.close()
        }
    }

    @Test("Where no server answers the store is unavailable, and its address stays out of sight")
    func absent() async throws {
        let address = "postgresql://u:secret@/x?host=/tmp/countersign-nowhere"
        let store = try StoreURL.parse(address).open { Date(timeIntervalSince1970: 0) }
        let error = await #expect(throws: StoreError.unavailable(reason: "")) { try await store.check() }
        #expect(error.map { !"\($0)".contains("secret") } ?? false)
        try await store.close()
    }

    @Test("Of several hosts the one that answers is taken")
    func severalHosts() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let several = address.replacingOccurrences(of: "?host=", with: "?host=/tmp/countersign-nowhere,")
            let store = try StoreURL.parse(several).open { Date(timeIntervalSince1970: 0) }
            try await store.check()
            try await store.close()
        }
    }

    @Test("A single question costs one wait and no transaction, sees what was committed, and cannot write")
    func single() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let store = PostgreSQLDatabase(try PostgreSQLAddress(address))
            try await store.migrate([Self.accounts])
            let question = "SELECT balance FROM accounts WHERE id = $1"
            #expect(try await store.query(question, [1]) == [Row([100])])
            let before = store.exchanges
            for _ in 0..<10 { #expect(try await store.query(question, [1]) == [Row([100])]) }
            #expect(store.exchanges == before + 10)
            for sql in ["DELETE FROM accounts", "UPDATE accounts SET balance = 0 WHERE id = 1 RETURNING id"] {
                await #expect(throws: StoreError.statement(reason: "")) { try await store.query(sql, []) }
            }
            #expect(try await store.query("SELECT count(*) FROM accounts WHERE balance > $1", [0]) == [Row([2])])
            #expect(try await store.query(question, [2]) == [Row([100])])
            try await store.close()
        }
    }

    @Test("What is asked ahead costs one wait, and is asked again behind a write")
    func ahead() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let store = PostgreSQLDatabase(try PostgreSQLAddress(address))
            try await store.migrate([Self.accounts])
            let question = "SELECT balance FROM accounts WHERE id = $1"
            @Sendable func ask(_ transaction: any Transaction) throws -> [Row?] {
                try (1...40).map { try transaction.first(question, [.integer($0)]) }
            }
            var before = store.exchanges
            let (first, second) = try await store.read { transaction in
                let first = try transaction.together(ask)
                return (first, try ask(transaction))
            }
            // Both parts of it, and the end.
            #expect(store.exchanges == before + 3)
            #expect(first == second && first.prefix(3) == [Row([100]), Row([100]), nil])
            before = store.exchanges
            let changed = try await store.write { transaction in
                try transaction.ahead { _ = try ask($0) }
                try transaction.enqueue("UPDATE accounts SET balance = 7 WHERE id = $1", [1])
                return try transaction.first(question, [1])
            }
            #expect(changed == Row([7]))
            #expect(store.exchanges == before + 4)
            await #expect(throws: StoreError.statement(reason: "")) {
                try await store.write { try $0.ahead { try $0.execute("DELETE FROM accounts") } }
            }
            try await store.close()
        }
    }

    @Test("A statement has one plan, made once")
    func plans() async throws {
        try await withStore(.postgresql) { store async throws in
            #expect(try await store.query("SHOW plan_cache_mode", []) == [Row(["force_generic_plan"])])
            #expect(try await store.write { try $0.first("SHOW plan_cache_mode") } == Row(["force_generic_plan"]))
        }
    }

    @Test("The tests run on the version of PostgreSQL that the run names")
    func version() async throws {
        try await withStore(.postgresql) { store async throws in
            let row = try await store.query("SELECT current_setting('server_version_num')", []).first
            let version = try #require(try row.flatMap { Int(try $0.text(0)) }) / 10_000
            let isNamed = ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_STORE"] == "postgresql18"
            #expect(isNamed ? version == 18 : version >= 15)
        }
    }
}
