import Fixtures
import Foundation
import Testing

@testable import Database
@testable import Repositories

@Suite("The schema")
struct SchemaTests {
    /// Statements that drop what the previous version no longer used, by migration. Add one only if a released version
    /// neither reads nor writes what it drops.
    private static let contractions: [Int: Set<String>] = [:]
    /// The last migration of the last released version. Raise it with each release.
    private static let released = 1

    @Test(
        "only expands after its base, so that nodes of the previous version work on after the first new one has started"
    )
    func expansion() {
        let new = Schema.migrations.filter { $0.identifier > Self.released }
        for migration in Schema.migrations.dropFirst() {
            let allowed = Self.contractions[migration.identifier] ?? []
            let contracting = Self.contracting(migration, with: migration.identifier > Self.released ? new : [])
            #expect(contracting.filter { !allowed.contains($0) } == [], "\(migration.identifier)")
        }
    }

    @Test("declares in each migration of the next version that a node of the last one can use the store after it")
    func readable() {
        for migration in Schema.migrations where migration.identifier > Self.released {
            #expect(migration.readableFrom <= Self.released, "\(migration.identifier)")
        }
        #expect(Schema.migrations.allSatisfy { $0.readableFrom <= $0.identifier })
    }

    @Test(
        "expands by tables, indexes, optional columns and rows",
        arguments: [
            "CREATE TABLE a (id TEXT)", "CREATE INDEX a_by_b ON a (b)", "INSERT INTO a (id) VALUES (1)",
            "ALTER TABLE a ADD COLUMN b TEXT", "ALTER TABLE a ADD COLUMN b BIGINT NOT NULL DEFAULT 0",
            "DROP INDEX a_by_c",
        ])
    func expanding(statement: String) {
        #expect(Self.contracting(Migration(identifier: 2, name: "m", statements: [statement])) == [])
    }

    @Test(
        "is contracted by anything else",
        arguments: [
            "DROP TABLE a", "ALTER TABLE a RENAME TO b", "ALTER TABLE a DROP COLUMN b", "UPDATE a SET b = 1",
            "ALTER TABLE a ADD COLUMN b TEXT NOT NULL", "CREATE UNIQUE INDEX a_by_b ON a (b)",
        ])
    func contracting(statement: String) {
        #expect(Self.contracting(Migration(identifier: 2, name: "m", statements: [statement])) == [statement])
        #expect(
            Self.contracting(Migration(identifier: 2, name: "m", statements: [], ofEngine: [.sqlite: [statement]]))
                == [statement])
    }

    @Test("takes a unique index on a table or column of the same version")
    func unique() {
        let own = [
            "CREATE TABLE a (id TEXT, b TEXT)", "CREATE UNIQUE INDEX a_by_b ON a (b)",
            "ALTER TABLE c ADD COLUMN d TEXT",
        ]
        let new = Migration(identifier: 2, name: "m", readableFrom: 1, statements: own)
        #expect(Self.contracting(new) == [])
        let index = TableIndex("c_by_d", on: "c", "(d) WHERE d IS NOT NULL", isUnique: true)
        let later = Migration(identifier: 3, name: "n", readableFrom: 1, indexes: [index])
        #expect(Self.contracting(later, with: [new, later]) == [])
        #expect(Self.contracting(later) == later.statements)
    }

    @Test("has no column that no repository of its table names")
    func columns() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/Repositories")
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var words: [Set<Substring>] = []
        for case let file as URL in files where file.pathExtension == "swift" && !file.path.contains("/Schema/") {
            let text = try String(contentsOf: file, encoding: .utf8)
            words.append(Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") }))
        }
        let tables = try await withStore(migrations: Schema.migrations) { try await $0.tables() }
        for table in tables where table.name != "schema_migrations" {
            let own = words.filter { $0.contains(table.name[...]) }
            for column in table.columns {
                #expect(own.contains { $0.contains(column[...]) }, "\(table.name).\(column)")
            }
        }
    }

    /// The statements of a migration that a node of the previous version might not survive.
    ///
    /// - Parameter others: the other migrations of its version.
    private static func contracting(_ migration: Migration, with others: [Migration] = []) -> [String] {
        let own = migration.allStatements.map(\.onOneLine)
        let statements = own + others.flatMap(\.allStatements).map(\.onOneLine)
        return own.filter { statement in
            let table = statement.split(separator: " ON ").last?.split(separator: " ").first ?? ""
            let column = statement.split(separator: " (").dropFirst().first?.prefix { $0 != "," && $0 != ")" } ?? ""
            let isOwn = statements.contains {
                $0.hasPrefix("CREATE TABLE \(table) ") || $0.hasPrefix("ALTER TABLE \(table) ADD COLUMN \(column) ")
            }
            let isNew = ["CREATE TABLE ", "CREATE INDEX ", "INSERT INTO "].contains(where: statement.hasPrefix)
            let isOptional =
                statement.hasPrefix("ALTER TABLE ") && statement.contains(" ADD COLUMN ")
                && (!statement.contains("NOT NULL") || statement.contains(" DEFAULT "))
            // Without an index a question finds the same.
            let isIndex = statement.hasPrefix("DROP INDEX ")
            return !(isNew || isOptional || isIndex || statement.hasPrefix("CREATE UNIQUE INDEX ") && isOwn)
        }
    }
}
