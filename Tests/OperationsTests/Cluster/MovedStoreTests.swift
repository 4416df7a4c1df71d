import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

/// A stopped installation that `pg_dump` and `pg_restore` put on another server.
@Suite("A store that was moved as a dump")
struct MovedStoreTests {
    private static let clock: @Sendable () -> Date = { Date() }

    /// A database that holds the dump of one whose server had counted further.
    private func moved() async throws -> String {
        let cluster = try PostgreSQLCluster.shared
        let (old, new) = ("old-\(UUID().uuidString)", "new-\(UUID().uuidString)")
        let source = try StoreURL.parse(try cluster.newDatabase(old)).open(clock: Self.clock)
        try await source.migrate(Schema.migrations)
        try await source.write { transaction in
            try ChangeLog(transaction).append(.session(.of("before")))
        }
        try await source.write {
            try $0.execute(
                """
                UPDATE change_log
                SET xid = CAST(CAST(4000000000000 + CAST(CAST(xid AS TEXT) AS BIGINT) AS TEXT) AS xid8)
                """)
        }
        try await source.close()
        let address = try cluster.newDatabase(new)
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "dump").path
            for (program, arguments) in [
                ("pg_dump", ["-Fc", old, "-f", file]), ("pg_restore", ["-d", new, file]),
            ] {
                let result = try await Command.run(cluster.program(program), cluster.connection + arguments)
                try #require(result.status == 0, "\(result.errors)")
            }
        }
        return address
    }

    @Test("Both of two nodes that start on it at once see it as it is, and one of them says what it came as")
    func starts() async throws {
        let address = try await moved()
        let told = Told()
        let stores = try (0..<2).map { _ in try StoreURL.parse(address).open(clock: Self.clock) }
        let nodes = stores.map { store in
            CacheInvalidator(
                store: store, node: ServingNode(caches: Caches(store: store)), policy: CurrentPolicy(Policy()),
                environment: Environment(now: Self.clock), onForeignLog: { told.count() })
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { try await node.poll() } }
            try await group.waitForAll()
        }
        #expect(told.times == 1)
        let starts = try nodes.map { try #require($0.position) }
        try await stores[0].write { try ChangeLog($0).append(.session(.of("after"))) }
        for (start, store) in zip(starts, stores) {
            let reading = try await store.changes(after: start, limit: 10)
            #expect(
                !reading.isInterrupted && reading.changes.compactMap(ChangeLog.Change.init) == [.session(.of("after"))])
        }
        for store in stores { try await store.close() }
    }

    private final class Told: Sendable {
        private let state = Mutex(0)
        var times: Int { state.withLock { $0 } }
        func count() { state.withLock { $0 += 1 } }
    }
}
