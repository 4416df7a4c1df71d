import Database
import Fixtures
import Foundation
import Testing

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
            let end = ContinuousClock.now + .seconds(5)
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
}
