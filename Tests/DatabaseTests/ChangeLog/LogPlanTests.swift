import Fixtures
import Foundation
import Testing

@testable import Database

/// What a look into a long change log costs a server.
@Suite struct LogPlanTests {
    /// A log of 120,000 entries, and a connection as the service has it.
    private static func withLongLog(_ body: (PostgreSQLConnection) throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try StoreKind.postgresql.open(directory) { Date() }
            try await store.migrate(ChangeLogTests.migrations)
            try await store.write { transaction in
                try transaction.execute(
                    """
                    INSERT INTO change_log (xid, n, tag, kind, key, slot)
                    SELECT CAST(CAST(10 + g / 1000 AS TEXT) AS xid8), g, 0, 3, ''::bytea, g % 6
                    FROM generate_series(1, 120000) AS g
                    """)
            }
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            let connection = try PostgreSQLConnection(try PostgreSQLAddress(address), timeouts: PostgreSQLTimeouts())
            _ = try connection.command("ANALYZE change_log")
            let look = PostgreSQLDatabase.changesSince(limit: 1000)
            _ = try connection.command("PREPARE look (TEXT, BIGINT, TEXT, TEXT, TEXT, BIGINT) AS \(look)")
            try body(connection)
            try await store.close()
        }
    }

    /// How many pages a look reads, and which tables it walks.
    private static func cost(_ arguments: String, _ connection: PostgreSQLConnection) throws -> (Int, [String]) {
        let plan = try connection.command("EXPLAIN (ANALYZE, BUFFERS) EXECUTE look (\(arguments))")
        let lines = try (0..<plan.count).map { try plan.row($0).text(0) }
        // The first line of the kind is that of the whole statement.
        let buffers = try #require(lines.first { $0.contains("Buffers:") })
        let pages = buffers.split(separator: " ").compactMap { word in
            word.split(separator: "=").last.flatMap { Int($0) }
        }
        let walks = lines.filter { $0.contains("Seq Scan on change_log_") && !$0.contains("incarnation") }
        return (pages.reduce(0, +), walks)
    }

    @Test("It does not grow with the log, whatever was open when it was looked at last")
    func look() async throws {
        try await Self.withLongLog { connection in
            for arguments in [
                "'130', 120000, '{}', NULL, '0', -1", "'130', 120000, '{5,7}', NULL, '0', -1",
                "'130', 120000, '{5,7}', '131:131:', '130', 119990", "'129', 119900, '{}', NULL, '0', -1",
                "'130', 120000, '{131,150}', NULL, '0', -1",
            ] {
                let (pages, walks) = try Self.cost(arguments, connection)
                #expect(pages < 300 && walks.isEmpty, "\(arguments): \(pages) pages")
            }
        }
    }
}
