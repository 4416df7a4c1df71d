import Testing

@testable import Database
@testable import Repositories

/// Sign-ins continue during a migration. It may lock a table, but only for a moment.
@Suite("A migration of a store in use")
struct MigrationRuleTests {
    @Test("reads and rewrites no table under its lock")
    func released() {
        for migration in Schema.migrations.dropFirst() {
            #expect(Self.blocking(migration) == [], "\(migration.identifier)")
        }
    }

    @Test(
        "may change the catalogue",
        arguments: [
            "CREATE TABLE a (id TEXT NOT NULL PRIMARY KEY)", "INSERT INTO a (id, b) VALUES (1, 2), (3, 4)",
            "ALTER TABLE a ADD COLUMN b TEXT", "ALTER TABLE a ADD COLUMN b BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE a ADD COLUMN b DOUBLE PRECISION DEFAULT -1", "ALTER TABLE a ADD COLUMN b TEXT DEFAULT 'x'",
            "DROP INDEX a_by_b", "DROP TABLE a", "ALTER TABLE a DROP COLUMN b", "ALTER TABLE a RENAME TO b",
        ])
    func brief(statement: String) {
        #expect(Self.blocking(Migration(identifier: 2, name: "m", statements: [statement])) == [])
    }

    @Test(
        "may not read or rewrite a table",
        arguments: [
            "CREATE INDEX a_by_b ON a (b)", "CREATE UNIQUE INDEX a_by_b ON a (b)", "UPDATE a SET b = 1",
            "DELETE FROM a", "INSERT INTO a (id) SELECT id FROM b", "CREATE TABLE a AS SELECT id FROM b",
            "ALTER TABLE a ALTER COLUMN b TYPE BIGINT", "ALTER TABLE a ALTER COLUMN b SET NOT NULL",
            "ALTER TABLE a ADD COLUMN b TEXT DEFAULT random()", "ALTER TABLE a ADD COLUMN b TEXT REFERENCES c (d)",
            "ALTER TABLE a ADD COLUMN b BIGINT CHECK (b > 0)", "ALTER TABLE a ADD COLUMN b TEXT UNIQUE",
            "ALTER TABLE a ADD COLUMN b BIGINT GENERATED ALWAYS AS (c + 1) STORED",
            "ALTER TABLE a ADD CONSTRAINT b CHECK (c > 0)", "ALTER TABLE a ADD COLUMN b TEXT, ADD COLUMN c TEXT UNIQUE",
            "CLUSTER a USING a_by_b", "VACUUM FULL a", "REINDEX TABLE a",
        ])
    func long(statement: String) {
        #expect(Self.blocking(Migration(identifier: 2, name: "m", statements: [statement])) == [statement])
        #expect(
            Self.blocking(Migration(identifier: 2, name: "m", statements: [], ofEngine: [.postgreSQL: [statement]]))
                == [statement])
    }

    @Test("builds an index of its own table with it, and of another one concurrently")
    func indexes() {
        let own = ["CREATE TABLE a (id TEXT, b TEXT)", "CREATE INDEX a_by_b ON a (b)"]
        #expect(Self.blocking(Migration(identifier: 2, name: "m", statements: own)) == [])
        let index = TableIndex("c_by_d", on: "c", "(d)")
        #expect(Self.blocking(Migration(identifier: 2, name: "m", readableFrom: 1, indexes: [index])) == [])
    }

    /// The statements during which requests would wait for longer than a change of the catalogue takes.
    private static func blocking(_ migration: Migration) -> [String] {
        guard migration.indexes.isEmpty else { return [] }
        let statements = migration.allStatements.map(\.onOneLine)
        let own = Set(statements.compactMap { $0.prefixMatch(of: /CREATE TABLE (\w+) \(/)?.1 })
        return statements.filter { statement in
            if let index = statement.prefixMatch(of: /CREATE (?:UNIQUE )?INDEX \w+ ON (\w+) \(/) {
                return !own.contains(index.1)
            }
            return !brief.contains { statement.prefixMatch(of: $0) != nil }
        }
    }

    private static var brief: [Regex<Substring>] {
        [
            /CREATE TABLE \w+ \(/, /INSERT INTO \w+ \([^()]*\) VALUES \(/, /DROP (?:INDEX|TABLE) \w+\z/,
            /ALTER TABLE \w+ (?:DROP COLUMN \w+|RENAME [\w ]+)\z/,
            // PostgreSQL keeps a constant default in the catalogue.
            /ALTER TABLE \w+ ADD COLUMN \w+ [A-Z]+(?: PRECISION)?(?: NOT NULL)?(?: DEFAULT (?:-?[0-9]+|'[^']*'))?\z/,
        ]
    }
}

extension String {
    /// A statement with one space between its words.
    var onOneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
