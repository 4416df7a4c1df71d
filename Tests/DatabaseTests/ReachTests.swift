import Fixtures
import Foundation
import Testing

@testable import Database

/// What becomes of those who wait for a server that is gone.
@Suite struct ReachTests {
    private static let start = ContinuousClock.now

    private static func at(_ seconds: Double) -> Reach.Moment { start + .seconds(seconds) }

    @Test("A server is lost when no heartbeat came through for two seconds, and found with the next one that does")
    func lost() {
        var reach = Reach()
        #expect(!reach.isLost(at: Self.at(100)))
        for second in 0..<4 { reach.begin(at: Self.at(Double(second))) }
        #expect(!reach.isLost(at: Self.at(1.9)) && reach.isLost(at: Self.at(2.1)))
        reach.end(begunAt: Self.at(0), hasCommitted: false)
        #expect(reach.isLost(at: Self.at(4)))
        // Those before it that hang still say nothing.
        reach.end(begunAt: Self.at(3), hasCommitted: true)
        #expect(!reach.isLost(at: Self.at(4)))
        #expect(reach.isLost(at: Self.at(5.1)))
    }

    @Test("Slow heartbeats that overlap are no loss, and neither is one that failed long ago")
    func slow() {
        var reach = Reach()
        for step in 0..<40 {
            let now = Double(step) * 0.125
            reach.begin(at: Self.at(now))
            if step >= 12 { reach.end(begunAt: Self.at(now - 1.5), hasCommitted: true) }
            #expect(!reach.isLost(at: Self.at(now)))
        }
        var single = Reach()
        single.begin(at: Self.at(0))
        single.end(begunAt: Self.at(0), hasCommitted: false)
        #expect(!single.isLost(at: Self.at(3)))
    }

    @Test("Whoever waits for a lost server is refused, and so is who comes; what watches goes on")
    func refused() async throws {
        try await withTemporaryDirectory { directory in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            var timeouts = PostgreSQLTimeouts()
            timeouts.statement = 50
            let store = PostgreSQLDatabase(try PostgreSQLAddress(address), timeouts: timeouts)
            try await store.migrate(ChangeLogTests.migrations)
            let mark = "mark_\(UInt32.random(in: 0...UInt32.max))"
            let waiting = [
                Task { try await store.read { try $0.execute("SELECT pg_sleep(40) AS \(mark)") } },
                Task { try await store.write { try $0.execute("SELECT pg_sleep(40) AS \(mark)") } },
            ]
            try await LaneTests.waitFor(mark, sleepers: 2)
            let begunAt = store.reach.begin(at: .now - .seconds(3))
            for task in waiting {
                await #expect(throws: StoreError.unavailable(reason: "")) { try await task.value }
            }
            // Nobody waited until the server was done.
            try await LaneTests.waitFor(mark, sleepers: 2)
            await #expect(throws: StoreError.unavailable(reason: "")) { try await store.check() }
            let position = try await store.changePosition()
            #expect(try await !store.changes(after: position, limit: 1).isInterrupted)
            store.reach.end(begunAt: begunAt, hasCommitted: true)
            try await store.check()
            try await store.close()
            try PostgreSQLCluster.shared.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%\(mark)%' "
                    + "AND pid <> pg_backend_pid()"
            )
        }
    }
}
