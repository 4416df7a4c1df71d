import Foundation

/// The engines. Any server that speaks PostgreSQL's protocol is one of PostgreSQL.
package enum Engine: Sendable {
    case postgreSQL
    case sqlite
}

/// One step of the schema, applied once: statements in one transaction, or indexes built while the store is in use.
package struct Migration: Sendable {
    /// The position in the order, from 1.
    package let identifier: Int
    let name: String
    /// One SQL statement each, without parameters, which every engine executes. Those of ``indexes`` are among them.
    package let statements: [String]
    /// FNV-1a (Fowler, Noll and Vo) of all statements, 64 bits in hexadecimal. It detects edits, not attacks.
    let checksum: String
    /// The last migration of the oldest build that can use the store after this one. Older builds are refused.
    let readableFrom: Int
    /// Indexes that are built while the store is in use. Such a step has no other statements.
    let indexes: [TableIndex]
    let ofEngine: [Engine: [String]]
    /// Whether it creates the tables of the change log, which differ by engine.
    let createsChangeLog: Bool

    /// Describes a step that builds indexes, one after the other. Writers do not wait, however large the tables are. It
    /// is not a transaction: if the process dies, the next one drops an incomplete index and builds it again.
    ///
    /// - Parameter readableFrom: as that of ``init(identifier:name:readableFrom:statements:ofEngine:createsChangeLog:)``.
    package init(identifier: Int, name: String, readableFrom: Int? = nil, indexes: [TableIndex]) {
        (self.identifier, self.name, self.indexes) = (identifier, name, indexes)
        (statements, ofEngine, createsChangeLog) = (indexes.map(\.statement), [:], false)
        self.readableFrom = readableFrom ?? identifier
        checksum = Self.checksum(of: statements)
    }
}

package extension Migration {
    /// Describes a step. A step that any store has applied must not be edited again.
    ///
    /// - Parameters:
    ///   - readableFrom: the last migration of the oldest build that can use the store after this one. A step that
    ///     declares none is for its own build and later ones.
    ///   - ofEngine: statements that only one engine executes, after the others: SQLite cannot change a constraint of an
    ///     existing table.
    init(
        identifier: Int, name: String, readableFrom: Int? = nil, statements: [String],
        ofEngine: [Engine: [String]] = [:], createsChangeLog: Bool = false
    ) {
        self.readableFrom = readableFrom ?? identifier
        (self.identifier, self.name, self.statements, self.ofEngine) = (identifier, name, statements, ofEngine)
        (self.createsChangeLog, indexes) = (createsChangeLog, [])
        checksum = Self.checksum(of: statements + Self.list(ofEngine))
    }

    var allStatements: [String] { statements + Self.list(ofEngine) }

    private static func list(_ ofEngine: [Engine: [String]]) -> [String] {
        [.postgreSQL, .sqlite].flatMap { ofEngine[$0] ?? [] }
    }

    private static func checksum(of statements: [String]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for statement in statements {
            for byte in Array(statement.utf8) + [0] {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        return String(hash, radix: 16)
    }
}

package extension Database {
    /// Brings the schema to the last of these migrations. Repeating it changes nothing, and several processes may do it
    /// at once. A store that a newer build has migrated is left as it is.
    ///
    /// - Parameters:
    ///   - isUnfinished: whether the store is known to be an unfinished copy.
    ///   - acceptsNewer: as that of ``pendingMigrations(of:acceptsNewer:)``.
    /// - Throws: `StoreError.migration` if history and build do not match, and the error of a statement that fails; the
    ///   migrations before it stay applied. `StoreError.notUsable` for a store that was moved, or an unfinished copy.
    func migrate(_ migrations: [Migration], isUnfinished: Bool = false, acceptsNewer: Bool = true) async throws {
        if !isUnfinished { try await requireUsable() }
        var previous = 0
        for migration in migrations {
            guard migration.identifier > previous else {
                throw StoreError.migration(.unordered(migration.identifier))
            }
            previous = migration.identifier
        }
        try await alter { transaction in
            try transaction.execute(
                """
                CREATE TABLE IF NOT EXISTS schema_migrations (
                    identifier BIGINT PRIMARY KEY,
                    name TEXT NOT NULL,
                    checksum TEXT NOT NULL,
                    applied_at BIGINT NOT NULL,
                    readable_from BIGINT NOT NULL
                )
                """)
        }
        for migration in try await read({ try pending(of: migrations, acceptsNewer: acceptsNewer, in: $0) }) {
            for index in migration.indexes { try await build(index) }
            try await alter { try apply(migration, of: migrations, in: $0) }
        }
    }

    /// The migrations that are not applied yet. The store is not changed.
    ///
    /// - Parameter acceptsNewer: whether the store may have migrations of a newer build that declare that this build can
    ///   use the store. A program that must know every table does not accept them.
    /// - Throws: `StoreError.migration` if history and build do not match.
    func pendingMigrations(of migrations: [Migration], acceptsNewer: Bool = true) async throws -> [Migration] {
        guard try await currentMigration() > 0 else { return migrations }
        return try await read { try $0.pendingMigrations(of: migrations, acceptsNewer: acceptsNewer) }
    }

    /// The identifier of the last applied migration; 0 if there is none.
    ///
    /// - Throws: `StoreError.unavailable`.
    func currentMigration() async throws -> Int {
        do {
            return try await read { transaction in
                Int(try transaction.first("SELECT max(identifier) FROM schema_migrations")?.integerOrNull(0) ?? 0)
            }
        } catch StoreError.statement {
            // A store that was never migrated has no such table.
            return 0
        }
    }
}

/// Compares the applied migrations with those of this build, and returns the pending ones.
func pending(
    of migrations: [Migration], acceptsNewer: Bool, in transaction: any Transaction
) throws -> [Migration] {
    let applied = try transaction.query(
        "SELECT identifier, checksum, readable_from FROM schema_migrations ORDER BY identifier")
    let last = migrations.last?.identifier ?? 0
    for (index, row) in applied.enumerated() {
        let identifier = Int(try row.integer(0))
        guard index < migrations.count else {
            guard acceptsNewer, try row.integer(2) <= last else { throw StoreError.migration(.newer(identifier)) }
            continue
        }
        guard migrations[index].identifier == identifier else {
            throw StoreError.migration(.diverged(min(migrations[index].identifier, identifier)))
        }
        guard migrations[index].checksum == (try row.text(1)) else {
            throw StoreError.migration(.changed(identifier))
        }
    }
    return Array(migrations.dropFirst(applied.count))
}

/// Applies a step unless another process was faster. Its row is inserted first, so the other process waits or skips it.
private func apply(_ migration: Migration, of migrations: [Migration], in transaction: any Transaction) throws {
    let inserted = try transaction.execute(
        """
        INSERT INTO schema_migrations (identifier, name, checksum, applied_at, readable_from)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (identifier) DO NOTHING
        """,
        [
            Value(migration.identifier), .text(migration.name), .text(migration.checksum),
            .integer(Int64(transaction.now.timeIntervalSince1970)), Value(migration.readableFrom),
        ])
    _ = try pending(of: migrations, acceptsNewer: true, in: transaction)
    guard inserted == 1 else { return }
    if migration.createsChangeLog { try transaction.createChangeLog() }
    // Indexes were built before this transaction.
    let common = migration.indexes.isEmpty ? migration.statements : []
    for statement in common + (migration.ofEngine[transaction.engine] ?? []) {
        do {
            try transaction.execute(statement)
        } catch StoreError.statement(let reason) {
            throw StoreError.statement(reason: "migration \(migration.identifier), \(migration.name): \(reason)")
        }
    }
}
