import Foundation

/// The engines behind the interface. A server that speaks PostgreSQL's protocol is one of PostgreSQL.
package enum Engine: Sendable {
    case postgreSQL
    case sqlite
}

/// One step of the schema, applied once: statements in one transaction, or an index beside those who work.
package struct Migration: Sendable {
    /// What a step does beyond its statements.
    enum Kind: Sendable {
        case statements
        case indexes([TableIndex])
        /// The tables of the change log, which differ by engine.
        case changeLog
        /// Statements of which each engine has its own.
        case byEngine([Engine: [String]])
    }

    /// Its place in the order, from 1 on.
    package let identifier: Int
    /// What it does, for people.
    package let name: String
    /// One SQL statement each, without parameters.
    package let statements: [String]
    /// FNV-1a (Fowler, Noll and Vo) of the statements, 64 bits in hexadecimal: it finds edits, it defends against nobody.
    package let checksum: String
    let kind: Kind

    /// Describes a step; a step that any store has applied is never edited again.
    package init(identifier: Int, name: String, statements: [String]) {
        self.init(identifier, name, statements, .statements)
    }

    /// A step that makes one index without keeping writers waiting, however large the table is. It is no transaction: a
    /// process that dies leaves half of it, which the next one takes away and makes again.
    package init(identifier: Int, name: String, index: TableIndex) {
        self.init(identifier: identifier, name: name, indexes: [index])
    }

    /// The same of several indexes, one after the other.
    package init(identifier: Int, name: String, indexes: [TableIndex]) {
        self.init(identifier, name, indexes.map(\.statement), .indexes(indexes))
    }

    /// A step that engines take by different statements: SQLite changes no constraint of a table that stands.
    package init(identifier: Int, name: String, postgreSQL: [String], sqlite: [String]) {
        self.init(identifier, name, postgreSQL + sqlite, .byEngine([.postgreSQL: postgreSQL, .sqlite: sqlite]))
    }

    /// The step that makes the change log.
    package static func changeLog(identifier: Int) -> Migration {
        Migration(identifier, "change log", [], .changeLog)
    }

    /// The step behind ``changeLog(identifier:)`` that notes up to where entries were purged, for readers that come back.
    /// On an engine with one writer the purged entries are the first, and a reader misses its own.
    package static func changeLogFloor(identifier: Int) -> Migration {
        Migration(
            identifier: identifier, name: "end of what the change log has purged",
            statements: ["ALTER TABLE change_log_incarnation ADD COLUMN purged_below BIGINT NOT NULL DEFAULT 0"])
    }

    private init(_ identifier: Int, _ name: String, _ statements: [String], _ kind: Kind) {
        (self.identifier, self.name, self.statements, self.kind) = (identifier, name, statements, kind)
        checksum = Self.checksum(of: statements)
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

extension Database {
    /// Brings the schema to the last of these migrations. Repeating it changes nothing, and several processes may do
    /// it at once.
    ///
    /// - Parameter isUnfinished: whether it is known that the store is a copy under way.
    /// - Throws: `StoreError.migration` where history and build do not belong together, and the error of a statement
    ///   that fails; the migrations before it stay applied. `StoreError.notUsable` for a store that was moved away, or is
    ///   no whole copy of another yet.
    package func migrate(_ migrations: [Migration], isUnfinished: Bool = false) async throws {
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
                    applied_at BIGINT NOT NULL
                )
                """)
        }
        for migration in try await read({ try pending(of: migrations, in: $0) }) {
            if case .indexes(let indexes) = migration.kind {
                for index in indexes { try await build(index) }
            }
            try await alter { try apply(migration, of: migrations, in: $0) }
        }
    }

    /// The migrations that the store has not seen yet; it is left as it is.
    ///
    /// - Throws: `StoreError.migration` where history and build do not belong together.
    package func pendingMigrations(of migrations: [Migration]) async throws -> [Migration] {
        guard try await currentMigration() > 0 else { return migrations }
        return try await read { try pending(of: migrations, in: $0) }
    }

    /// The identifier of the last applied migration, 0 for a store without any.
    ///
    /// - Throws: `StoreError.unavailable`.
    package func currentMigration() async throws -> Int {
        do {
            return try await read { transaction in
                Int(try transaction.first("SELECT max(identifier) FROM schema_migrations")?.integerOrNull(0) ?? 0)
            }
        } catch StoreError.statement {
            // The statement is right: a store that was never migrated has no such table.
            return 0
        }
    }
}

/// Compares what was applied with what this build has, and returns what is still to be done.
private func pending(of migrations: [Migration], in transaction: any Transaction) throws -> [Migration] {
    let applied = try transaction.query("SELECT identifier, checksum FROM schema_migrations ORDER BY identifier")
    for (index, row) in applied.enumerated() {
        let identifier = Int(try row.integer(0))
        guard index < migrations.count else {
            throw StoreError.migration(.newer(identifier))
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

/// Applies a step unless another process was faster; its row goes in first, so that the other waits or loses.
private func apply(_ migration: Migration, of migrations: [Migration], in transaction: any Transaction) throws {
    let inserted = try transaction.execute(
        """
        INSERT INTO schema_migrations (identifier, name, checksum, applied_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (identifier) DO NOTHING
        """,
        [
            Value(migration.identifier), .text(migration.name), .text(migration.checksum),
            .integer(Int64(transaction.now.timeIntervalSince1970)),
        ])
    _ = try pending(of: migrations, in: transaction)
    guard inserted == 1 else { return }
    switch migration.kind {
    case .indexes: return
    case .changeLog: try transaction.createChangeLog()
    case .statements: try carryOut(migration.statements, of: migration, in: transaction)
    case .byEngine(let statements):
        try carryOut(statements[transaction.engine] ?? [], of: migration, in: transaction)
    }
}

private func carryOut(_ statements: [String], of migration: Migration, in transaction: any Transaction) throws {
    for statement in statements {
        do {
            try transaction.execute(statement)
        } catch StoreError.statement(let reason) {
            throw StoreError.statement(reason: "migration \(migration.identifier), \(migration.name): \(reason)")
        }
    }
}
