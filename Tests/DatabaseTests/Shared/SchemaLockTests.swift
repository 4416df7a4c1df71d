import Fixtures
import Foundation
import Testing

@testable import Database

@Suite("A change of the schema behind a long transaction")
struct SchemaLockTests {
    @Test("lets whoever comes after it go first, and is made when that transaction has ended")
    func givesWay() async throws {
        try await withStore(.postgresql) { store in
            try await store.alter { try $0.execute("CREATE TABLE words (word TEXT NOT NULL)") }
            try await store.write { try $0.execute("INSERT INTO words (word) VALUES ('one')") }
            let held = HeldTransaction()
            async let reader: Int = store.maintain { transaction in
                let count = try transaction.query("SELECT word FROM words").count
                held.stand()
                return count
            }
            await held.stands()
            async let altered: Int = store.alter { try $0.execute("ALTER TABLE words ADD COLUMN meaning TEXT") }
            // Half of the time that the first stands.
            let end = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < end {
                let isWaiting = try await store.read {
                    try $0.first(
                        """
                        SELECT 1 FROM pg_catalog.pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'
                            AND relation = CAST('words' AS regclass)
                        """)
                }
                if isWaiting != nil { break }
                try await Task.sleep(for: .milliseconds(1))
            }
            // Both stand in its way for as long as it waits for the first.
            let count = try await store.read { try $0.query("SELECT word FROM words").count }
            try await store.write { try $0.execute("INSERT INTO words (word) VALUES ('two')") }
            let isMade = try await store.read {
                try $0.query(
                    "SELECT 1 FROM pg_catalog.pg_attribute WHERE attrelid = CAST('words' AS regclass) AND attname = 'meaning'"
                )
            }
            #expect(count == 1 && isMade.isEmpty)
            held.end()
            #expect(try await reader == 1)
            _ = try await altered
            #expect(try await store.read { try $0.query("SELECT meaning FROM words").count } == 2)
        }
    }

    @Test("delays others by a tenth of a second at a time for as long as a backup reads the table")
    func shortWaits() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            var timeouts = PostgreSQLTimeouts()
            // Others give up after ten times as long as the change waits for its lock.
            timeouts.lock = 1
            let store = PostgreSQLDatabase(try PostgreSQLAddress(address), timeouts: timeouts)
            try await store.alter { try $0.execute("CREATE TABLE words (word TEXT NOT NULL)") }
            let held = HeldTransaction()
            async let backup: Void = store.maintain { transaction in
                // As pg_dump does, which reads every table under one snapshot.
                try transaction.execute("LOCK TABLE words IN ACCESS SHARE MODE")
                held.stand()
            }
            await held.stands()
            async let altered: Int = store.alter { try $0.execute("ALTER TABLE words ADD COLUMN meaning TEXT") }
            var written = 0
            for _ in 0..<60000 where store.repetitions < 3 {
                try await store.write { try $0.execute("INSERT INTO words (word) VALUES ('one')") }
                written += 1
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(store.repetitions >= 3, "the change gave way \(store.repetitions) times")
            held.end()
            try await backup
            _ = try await altered
            #expect(try await store.read { try $0.query("SELECT meaning FROM words").count } == written)
            try await store.close()
        }
    }
}
