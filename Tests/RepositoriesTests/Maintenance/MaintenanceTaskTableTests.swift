import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table maintenance_tasks")
struct MaintenanceTaskTableTests {
    @Test("A task that is due is leased to one holder, until the lease ends", arguments: StoreKind.shared)
    func lease(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            func lease(_ name: String, _ holder: String, for seconds: TimeInterval) async throws -> Bool {
                try await tables.write {
                    try MaintenanceTaskRepository($0).lease(name, to: holder, for: seconds) != nil
                }
            }
            #expect(try await lease("a", "first", for: 60))
            #expect(try await !lease("a", "second", for: 60))
            #expect(try await lease("b", "second", for: 60))
            func keep(_ holder: String, for seconds: TimeInterval) async throws -> Bool {
                try await tables.write { try MaintenanceTaskRepository($0).keep("a", as: holder, for: seconds) }
            }
            #expect(try await !keep("second", for: 60))
            // The first holder's time is over.
            #expect(try await keep("first", for: -1))
            #expect(try await lease("a", "second", for: 60))
            #expect(try await !keep("first", for: 60))
            try await tables.write { try MaintenanceTaskRepository($0).release("a", as: "first") }
            #expect(try await !lease("a", "third", for: 60))
            try await tables.write { try MaintenanceTaskRepository($0).release("a", as: "second") }
            #expect(try await lease("a", "third", for: 60))
        }
    }

    @Test("A run goes on where the last holder ended, and is due again after its interval", arguments: StoreKind.shared)
    func run(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let now = TestTables.now
            func reached(as holder: String) async throws -> String?? {
                try await tables.write {
                    try MaintenanceTaskRepository($0).lease("a", to: holder, for: 60).map(\.reached)
                }
            }
            #expect(try await reached(as: "1") == .some(nil))
            try await tables.write { transaction in
                let tasks = MaintenanceTaskRepository(transaction)
                try tasks.record(.init(rows: 5, reached: "x", isFinished: false), of: "a")
                try tasks.release("a", as: "1")
            }
            #expect(try await reached(as: "2") == .some("x"))
            try await tables.write { transaction in
                let tasks = MaintenanceTaskRepository(transaction)
                try tasks.record(.init(rows: 2, reached: "y", isFinished: true), of: "a")
                try tasks.finish("a", as: "2", dueAgainAfter: 60)
            }
            #expect(try await reached(as: "3") == nil)
            let entry = try await tables.read { try MaintenanceTaskRepository($0).list().first }
            #expect(
                entry
                    == .init(
                        name: "a", dueAt: now.addingTimeInterval(60), leasedUntil: Date(timeIntervalSince1970: 0),
                        startedAt: nil, rows: 0, endedAt: now, lastRows: 7, failures: 0))
            #expect(entry?.isOverdue(at: now.addingTimeInterval(60 + 900)) == false)
            #expect(entry?.isOverdue(at: now.addingTimeInterval(60 + 901)) == true)
        }
    }

    @Test("A task that failed is left alone for a while, and stays due", arguments: StoreKind.shared)
    func failure(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                let tasks = MaintenanceTaskRepository(transaction)
                for _ in 0..<2 {
                    _ = try tasks.lease("a", to: "1", for: 60)
                    try tasks.fail("a", as: "1", pause: 0)
                }
                _ = try tasks.lease("a", to: "1", for: 60)
                try tasks.fail("a", as: "1", pause: 60)
            }
            let entry = try #require(try await tables.read { try MaintenanceTaskRepository($0).list().first })
            #expect((entry.failures, entry.dueAt) == (3, TestTables.now))
            #expect(!entry.isFree(at: TestTables.now.addingTimeInterval(59)))
            #expect(entry.isFree(at: TestTables.now.addingTimeInterval(60)))
        }
    }

    @Test(
        "Rows go oldest first, no more than asked, each batch from where the last one ended",
        arguments: StoreKind.shared)
    func batches(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            for number in 1...5 {
                try await tables.sql("INSERT INTO rates (key, arrival) VALUES ('\(number)', \(number / 2))")
            }
            var (batch, rows, left) = (MaintenanceBatch(limit: 2), [Int](), [[String]]())
            for _ in 0..<3 {
                let outcome = try await tables.write { [batch] transaction in
                    try RateRepository(transaction).purge(before: Date(timeIntervalSince1970: 0.002), batch)
                }
                rows.append(outcome.rows)
                left.append(try await tables.store.read { try $0.values("SELECT key FROM rates ORDER BY key") })
                batch = MaintenanceBatch(after: outcome.reached, limit: 2)
                if outcome.isFinished { break }
            }
            // Two rows are of the moment itself.
            #expect(rows == [2, 1])
            #expect(left.last == ["4", "5"])
        }
    }
}
