import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Database

@Suite("An observed store")
struct ObservedDatabaseTests {
    private final class Waits: Sendable {
        private let kinds = Mutex<[ObservedDatabase.Kind]>([])
        var all: [ObservedDatabase.Kind] { kinds.withLock { $0 } }
        func note(_ kind: ObservedDatabase.Kind) { kinds.withLock { $0.append(kind) } }
    }

    private struct Taken: Error {}

    @Test("does what the store does, and tells of each wait once, of one that failed too", arguments: StoreKind.all)
    func waits(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let waits = Waits()
            let observed = ObservedDatabase(store) { kind, began in
                #expect(began <= .now)
                waits.note(kind)
            }
            try await observed.alter { try $0.execute("CREATE TABLE words (word TEXT NOT NULL)") }
            try await observed.write { try $0.execute("INSERT INTO words (word) VALUES ('one')") }
            try await observed.write(on: .administration) {
                try $0.execute("INSERT INTO words (word) VALUES ('two')")
            }
            try await observed.write(inTurn: Turn("words")) { try $0.execute("UPDATE words SET word = word") }
            let read = try await observed.read { try $0.query("SELECT word FROM words").count }
            let readBeside = try await observed.read(on: .administration) {
                try $0.query("SELECT word FROM words").count
            }
            let asked = try await observed.query("SELECT word FROM words WHERE word = $1", [.text("two")]).count
            #expect(read == 2 && readBeside == 2 && asked == 1)
            try await observed.maintain { try $0.execute("DELETE FROM words WHERE word = 'one'") }
            await #expect(throws: Taken.self) { try await observed.read { _ in throw Taken() } }
            try await observed.check()
            #expect(waits.all == [.write, .write, .write, .read, .read, .query, .maintain, .read])
        }
    }
}
