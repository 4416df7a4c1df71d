import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing

@testable import Operations

@Suite("Housekeeping")
struct HousekeepingTests {
    private static func count(_ table: String, in store: any Database) async throws -> Int64? {
        try await store.read { try $0.first("SELECT COUNT(*) FROM \(table)")?.integer(0) }
    }

    private static func addRates(_ count: Int, to store: any Database) async throws {
        try await store.write { transaction in
            try transaction.execute(
                "INSERT INTO rates (key, arrival) VALUES ($1, $2)",
                rows: (0..<count).map { [.text("old \($0)"), .integer(Int64($0))] })
        }
    }

    private static func entry(_ name: String, in store: any Database) async throws -> MaintenanceTaskRepository.Entry? {
        try await store.read { try MaintenanceTaskRepository($0).list().first { $0.name == name } }
    }

    @Test("Each task is done by one of two nodes, and only once in its interval", arguments: StoreKind.shared)
    func twoNodes(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            try await Self.addRates(2500, to: fixture.store)
            let other = Housekeeping(fixture.context(node: ServingNode(caches: Caches(store: fixture.store))))
            async let first = fixture.housekeeping()
            async let second = other()
            let (reports, all) = (
                try await [first, second], MaintenanceTask.all(of: fixture.context).map(\.name)
            )
            #expect(reports.flatMap(\.failed).isEmpty)
            // One that the other node has at that moment is left to it.
            #expect(reports.flatMap(\.finished).sorted() == all.sorted())
            #expect(try await Self.count("rates", in: fixture.store) == 0)
            #expect(try await Self.entry("rates", in: fixture.store)?.lastRows == 2500)
            #expect(try await fixture.housekeeping().finished.isEmpty)
            fixture.clock.advance(60)
            #expect(try await fixture.housekeeping().finished.count == all.count)
        }
    }

    @Test("What a dead node held is done when its lease has run out, from where that node came to")
    func deadNode() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.addRates(10, to: fixture.store)
            try await fixture.store.write { transaction in
                let tasks = MaintenanceTaskRepository(transaction)
                _ = try tasks.lease("rates", to: "a dead node", for: RunMaintenanceTask.lease)
                try tasks.record(.init(rows: 0, reached: "4", isFinished: false), of: "rates")
            }
            fixture.clock.advance(59)
            #expect(try await !fixture.housekeeping().finished.contains("rates"))
            #expect(try await Self.count("rates", in: fixture.store) == 10)
            fixture.clock.advance(1)
            #expect(try await fixture.housekeeping().finished.contains("rates"))
            #expect(try await Self.count("rates", in: fixture.store) == 4)
            // The next run begins anew.
            fixture.clock.advance(60)
            try await fixture.housekeeping()
            #expect(try await Self.count("rates", in: fixture.store) == 0)
        }
    }

    @Test(
        "A task that fails keeps no other waiting, is tried each minute, and is overdue in the end",
        arguments: StoreKind.shared)
    func failing(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let all = MaintenanceTask.all(of: fixture.context).map(\.name)
            try await fixture.store.write { try $0.execute("ALTER TABLE rates RENAME TO lost") }
            let report = try await fixture.housekeeping()
            #expect(report.failed.map(\.task) == ["rates"])
            #expect(report.finished == all.filter { $0 != "rates" })
            #expect(try await fixture.housekeeping().failed.isEmpty)
            fixture.clock.advance(60)
            #expect(try await fixture.housekeeping().failed.map(\.task) == ["rates"])
            #expect(try await Self.entry("rates", in: fixture.store)?.failures == 2)
            fixture.clock.advance(900)
            #expect(try await fixture.housekeeping().overdue == ["rates"])
            try await fixture.store.write { try $0.execute("ALTER TABLE lost RENAME TO rates") }
            fixture.clock.advance(60)
            let last = try await fixture.housekeeping()
            #expect(last.failed.isEmpty && last.overdue.isEmpty)
            #expect(try await Self.entry("rates", in: fixture.store)?.failures == 0)
        }
    }

    @Test("A round ends in its time though a task has more to do, and the next round goes on with it")
    func cutShort() async throws {
        try await ServiceFixture.run { fixture in
            let batches = Mutex(0)
            let task = MaintenanceTask("test", every: 60) {
            } batch: { _, _ in
                let count = batches.withLock { batches in
                    batches += 1
                    return batches
                }
                return MaintenanceBatch.Outcome(rows: 1, reached: "\(count)", isFinished: false)
            }
            let housekeeping = Housekeeping(fixture.context, also: [task], longestRound: .zero)
            var done = 0
            for _ in 0..<2 {
                let report = try await housekeeping()
                #expect(report.isCutShort && !report.finished.contains("test"))
                let count = batches.withLock { $0 }
                #expect(count > done)
                done = count
            }
            #expect(try await Self.entry("test", in: fixture.store)?.endedAt == nil)
        }
    }

    @Test("A store that is too large to be counted at once is counted by housekeeping", arguments: StoreKind.shared)
    func counts(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            func status(_ mostRows: Int = 0) async throws -> ReportStatus.Summary {
                try await ReportStatus(store: fixture.store, policy: SessionPolicy(), mostRows: mostRows)()
            }
            _ = try await fixture.opened("ada", on: try await fixture.connectNewDevice())
            // Nobody has counted it yet.
            let first = try await status()
            #expect((first.sessions.authenticated, first.users[.none], first.countedAt) == (1, 1, nil))
            let counting = Housekeeping(fixture.context, also: [ReportStatus.task(fixture.policy)])
            #expect(try await counting().finished.contains("row_counts"))
            let counted = fixture.clock.now
            fixture.clock.advance(1)
            _ = try await fixture.opened("ben", on: try await fixture.connectNewDevice())
            let second = try await status()
            #expect((second.sessions.authenticated, second.devices, second.countedAt) == (1, 1, counted))
            let third = try await status(100)
            #expect((third.sessions.authenticated, third.devices, third.countedAt) == (2, 2, nil))
        }
    }

    @Test("Who has lost a task changes nothing any more", arguments: StoreKind.shared)
    func lost(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let store = fixture.store
            let batches = Mutex(0)
            let task = MaintenanceTask("test", every: 60) {
                // While this one was away, its lease ran out and another process took the task.
                _ = try await store.write {
                    try $0.execute("UPDATE maintenance_tasks SET holder = 'another' WHERE name = 'test'")
                }
            } batch: { _, _ in
                batches.withLock { $0 += 1 }
                return .all(1)
            }
            guard case .elsewhere = await RunMaintenanceTask(fixture.context)(task) else {
                Issue.record("the task was done")
                return
            }
            #expect(batches.withLock { $0 } == 0)
            let entry = try await Self.entry("test", in: store)
            #expect(entry != nil && entry?.endedAt == nil)
        }
    }

    @Test("A batch has a thousand rows at most, and what it records is followed up", arguments: StoreKind.shared)
    func batches(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let session = opened.session
            let limits = Mutex<[Int]>([])
            let task = MaintenanceTask(
                "test", every: 60,
                recording: { transaction, part, events in
                    let count = limits.withLock { limits in
                        limits.append(part.limit)
                        return limits.count
                    }
                    guard count > 8 else { return .init(rows: part.limit, reached: "\(count)", isFinished: false) }
                    for ended in try SessionRepository(transaction).end(
                        .session(session.id), at: transaction.now, .byAdmin)
                    {
                        events.record(.sessionEnded(ended, .byAdmin), by: "service")
                    }
                    return .all(1)
                })
            guard case .finished = await RunMaintenanceTask(fixture.context)(task) else {
                Issue.record("the task was not finished")
                return
            }
            #expect(limits.withLock { $0.max() ?? 0 } <= 1000)
            let token = try #require(opened.token).text.reveal()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
        }
    }
}
