import Database
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("The schema")
struct SchemaTests {
    /// Statements that drop what the previous version no longer used, by migration. Add one only if a released version
    /// neither reads nor writes what it drops.
    private static let contractions: [Int: Set<String>] = [:]

    @Test(
        "only expands after its base, so that nodes of the previous version work on after the first new one has started"
    )
    func expansion() {
        for migration in Schema.migrations.dropFirst() {
            let allowed = Self.contractions[migration.identifier] ?? []
            #expect(Self.contracting(migration).filter { !allowed.contains($0) } == [], "\(migration.identifier)")
        }
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

    @Test("takes a unique index on a table or column of the same migration")
    func unique() {
        let own = [
            "CREATE TABLE a (id TEXT, b TEXT)", "CREATE UNIQUE INDEX a_by_b ON a (b)",
            "ALTER TABLE c ADD COLUMN d TEXT",
            "CREATE UNIQUE INDEX c_by_d ON c (d) WHERE d IS NOT NULL",
        ]
        #expect(Self.contracting(Migration(identifier: 2, name: "m", statements: own)) == [])
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
    private static func contracting(_ migration: Migration) -> [String] {
        let statements = migration.allStatements.map {
            $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        return statements.filter { statement in
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
