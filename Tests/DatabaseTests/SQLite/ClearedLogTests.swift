import Database
import Fixtures
import Foundation
import Synchronization
import Testing

/// What was deleted is to be in no file, SQLite's write-ahead log included.
@Suite struct ClearedLogTests {
    private static let secret = Array("a wrapped data key that was destroyed".utf8)

    /// Runs a body over a store that was given a secret and then told to forget it.
    private static func withForgottenSecret(
        _ body: (SQLiteDatabase, _ isInFiles: () throws -> Bool) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.db").path
            let store = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) })
            try await store.write { transaction in
                try transaction.execute("CREATE TABLE secrets (id BIGINT PRIMARY KEY, value BYTEA)")
                try transaction.execute("INSERT INTO secrets VALUES (1, $1)", [.bytes(secret)])
            }
            try await store.write { try $0.execute("UPDATE secrets SET value = NULL") }
            try await body(store) {
                try ["", "-wal"].contains { suffix in
                    let data = try Data(contentsOf: URL(fileURLWithPath: path + suffix))
                    return data.firstRange(of: Data(secret)) != nil
                }
            }
            try await store.close()
        }
    }

    @Test("What was deleted lies in the log until that is cleared, and in no file after it")
    func cleared() async throws {
        try await Self.withForgottenSecret { store, isInFiles in
            #expect(try isInFiles())
            #expect(try await store.clearLog())
            #expect(try !isInFiles())
            // The store goes on, and clearing an empty log is nothing.
            #expect(try await store.clearLog())
            try await store.write { try $0.execute("INSERT INTO secrets VALUES (2, NULL)") }
            #expect(try await store.read { try $0.query("SELECT id FROM secrets").count } == 2)
        }
    }

    @Test("While a reader needs the log it stays, without an error, and the next time it goes")
    func held() async throws {
        try await Self.withForgottenSecret { store, isInFiles in
            let (started, starting) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            async let read: Int = store.read { transaction in
                let count = try transaction.query("SELECT id FROM secrets").count
                starting.finish()
                gate.wait()
                return count
            }
            for await _ in started {}
            let isCleared = try await store.clearLog()
            #expect(!isCleared)
            #expect(try isInFiles())
            gate.signal()
            let count = try await read
            #expect(count == 1)
            #expect(try await store.clearLog())
            #expect(try !isInFiles())
        }
    }

    @Test("Most of the log is copied while somebody writes, who does not wait for it")
    func beside() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.db").path
            let store = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) })
            try await store.write { transaction in
                try transaction.execute("CREATE TABLE rows (id BIGINT PRIMARY KEY, value BYTEA)")
                for id in 0..<500 {
                    try transaction.execute(
                        "INSERT INTO rows VALUES ($1, $2)",
                        [.integer(Int64(id)), .bytes([UInt8](repeating: 1, count: 4000))])
                }
            }
            func size() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: path)).count }
            #expect(try size() < 100_000)
            let (started, starting) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            async let written: Int = store.write { transaction in
                let count = try transaction.execute("UPDATE rows SET id = id + 1000 WHERE id = 0")
                starting.finish()
                gate.wait()
                return count
            }
            for await _ in started {}
            async let isCleared = store.clearLog()
            let deadline = ContinuousClock.now + .seconds(120)
            while try size() < 1_000_000, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try size() > 1_000_000)
            gate.signal()
            #expect(try await written == 1)
            #expect(try await isCleared)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).isEmpty)
            try await store.close()
        }
    }

    @Test("The log of much maintenance is copied behind it, not by the next writer")
    func maintained() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.db").path
            let store = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) })
            try await store.write { try $0.execute("CREATE TABLE rows (id BIGINT PRIMARY KEY, value BYTEA)") }
            @Sendable func fill(_ ids: Range<Int64>, in transaction: any Transaction) throws {
                let value = [UInt8](repeating: 1, count: 4000)
                for id in ids {
                    try transaction.execute("INSERT INTO rows VALUES ($1, $2)", [.integer(id), .bytes(value)])
                }
            }
            func size() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: path)).count }
            try await store.write { try fill(0..<500, in: $0) }
            #expect(try size() < 100_000)
            try await store.maintain { try fill(500..<1500, in: $0) }
            #expect(try size() > 4_000_000)
            try await store.close()
        }
    }

    /// Tells readers to stop.
    private final class Ending: Sendable {
        let isOver = Atomic(false)
    }

    @Test("Among readers that come before those before them are gone, and writes, a log past its bound is emptied")
    func bounded() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.db").path
            let bound = 512 << 10
            let store = try SQLiteDatabase(path: path, clock: { Date(timeIntervalSince1970: 0) }, logBound: bound)
            try await store.write { try $0.execute("CREATE TABLE rows (id BIGINT PRIMARY KEY, value BYTEA)") }
            let ending = Ending()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // One of both is nearly always in the log.
                for _ in 0..<2 {
                    group.addTask {
                        while !ending.isOver.load(ordering: .relaxed) {
                            try await store.read { transaction in
                                _ = try transaction.query("SELECT COUNT(*) FROM rows")
                                usleep(2000)
                            }
                        }
                    }
                }
                defer { ending.isOver.store(true, ordering: .relaxed) }
                var (sizes, emptied) = ([Int](), 0)
                for id in 0..<3000 where emptied < 3 {
                    try await store.write {
                        try $0.execute(
                            "INSERT INTO rows VALUES ($1, $2)",
                            [Value(id), .bytes([UInt8](repeating: 1, count: 16 << 10))])
                    }
                    let attributes = try FileManager.default.attributesOfItem(atPath: path + "-wal")
                    let size = try #require(attributes[.size] as? Int)
                    if size < sizes.last ?? 0 { emptied += 1 }
                    sizes.append(size)
                    // On a busy machine a reader may hold the log for longer than the writers wait; the next attempt is a
                    // second later.
                    if size > 4 * bound { try await Task.sleep(for: .milliseconds(20)) }
                }
                #expect(emptied == 3, "\(sizes.last ?? 0) bytes")
            }
            try await store.close()
        }
    }

    @Test("A closed store says so")
    func closed() async throws {
        try await Self.withForgottenSecret { store, _ in
            try await store.close()
            await #expect(throws: StoreError.unavailable(reason: "")) { try await store.clearLog() }
        }
    }
}
