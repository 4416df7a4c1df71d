import Database
import Foundation

/// The tables of the service, with common SQL for all engines. The schema enforces the invariants.
///
/// Identifiers are lower-case UUID text, times are milliseconds since 1970 (BIGINT), digests are 32 bytes. A column has
/// a default only if an insertion omits it.
package enum Schema {
    /// The migrations, in order. A released migration is never edited. A new version appends
    /// migrations that only expand the schema. The following version drops what is unused. So a node of the previous
    /// version can use the store after each of them, which `readableFrom` declares.
    static let steps = [
        Migration(
            identifier: 1, name: "base schema", readableFrom: 1,
            statements: [
                certificates, providers, users, addresses, sessions, signIns, phone, bans, authorizations, messaging,
                outbox, audit, administrators, cluster,
            ].flatMap(\.self), createsChangeLog: true)
    ]

    /// The processes that serve the store, their limits and tasks, and their common keys.
    static let cluster = [
        """
        CREATE TABLE nodes (
            id TEXT NOT NULL PRIMARY KEY,
            host TEXT NOT NULL,
            version TEXT NOT NULL,
            started_at BIGINT NOT NULL,
            seen_at BIGINT NOT NULL,
            fingerprints TEXT NOT NULL,
            log_position TEXT
        )
        """,
        // Digests of the keys of personal data that the store was written with.
        """
        CREATE TABLE key_fingerprints (
            item TEXT NOT NULL,
            version BIGINT NOT NULL,
            digest BYTEA NOT NULL,
            PRIMARY KEY (item, version)
        )
        """,
        "CREATE TABLE store_settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE rates (key TEXT NOT NULL PRIMARY KEY, arrival BIGINT NOT NULL)",
        "CREATE INDEX rates_by_arrival ON rates (arrival)",
        // One process at a time runs a task.
        """
        CREATE TABLE maintenance_tasks (
            name TEXT NOT NULL PRIMARY KEY,
            holder TEXT,
            leased_until BIGINT NOT NULL,
            due_at BIGINT NOT NULL,
            started_at BIGINT,
            reached TEXT,
            row_count BIGINT NOT NULL,
            ended_at BIGINT,
            last_row_count BIGINT NOT NULL,
            failures BIGINT NOT NULL
        )
        """,
    ]
}

package extension Schema {
    /// The migrations of this build, in order.
    static let migrations = steps + next

    #if DEBUG
        /// The migrations of a version that does not exist, from the file that `COUNTERSIGN_NEXT_MIGRATIONS` names. Tests
        /// run nodes of this version and of the next one on a store. A release build has none.
        private static let next: [Migration] = {
            guard let path = ProcessInfo.processInfo.environment["COUNTERSIGN_NEXT_MIGRATIONS"] else { return [] }
            do {
                let next = try JSONDecoder().decode([NextStep].self, from: Data(contentsOf: URL(filePath: path)))
                return next.enumerated().map { $1.migration(after: Self.steps.last?.identifier ?? 0, $0) }
            } catch {
                FileHandle.standardError.write(Data("\(path) has no migrations: \(error)\n".utf8))
                exit(1)
            }
        }()
    #else
        private static let next: [Migration] = []
    #endif
}

#if DEBUG
    /// A migration in the file of a test. It has either statements or indexes.
    private struct NextStep: Decodable {
        struct Index: Decodable {
            let name: String
            let table: String
            let definition: String
        }

        let name: String
        /// Whether the version of this build can use the store after it.
        let isReadable: Bool
        let statements: [String]?
        let indexes: [Index]?

        func migration(after last: Int, _ position: Int) -> Migration {
            let identifier = last + 1 + position
            let readableFrom = isReadable ? last : identifier
            guard let indexes else {
                return Migration(
                    identifier: identifier, name: name, readableFrom: readableFrom, statements: statements ?? [])
            }
            return Migration(
                identifier: identifier, name: name, readableFrom: readableFrom,
                indexes: indexes.map { TableIndex($0.name, on: $0.table, $0.definition) })
        }
    }
#endif
