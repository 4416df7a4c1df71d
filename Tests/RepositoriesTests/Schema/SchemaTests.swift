import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("The schema")
struct SchemaTests {
    @Test(
        "only grows but for two cuts, so that nodes of the version before work on while the first new one has changed it"
    )
    func growth() {
        for migration in Schema.migrations.dropFirst() {
            let statements = migration.statements.map {
                $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            for statement in statements {
                let table = statement.components(separatedBy: " ON ").last.flatMap { $0.split(separator: " ").first }
                let column = statement.components(separatedBy: " (").last.map { $0.prefix { $0 != "," && $0 != ")" } }
                let isOwn = statements.contains {
                    $0.hasPrefix("CREATE TABLE \(table ?? "") ")
                        || $0.hasPrefix("ALTER TABLE \(table ?? "") ADD COLUMN \(column ?? "") ")
                }
                let isNew =
                    ["CREATE TABLE ", "CREATE INDEX ", "INSERT INTO "].contains(where: statement.hasPrefix)
                    || statement.hasPrefix("CREATE UNIQUE INDEX ") && isOwn
                let isOptional =
                    statement.hasPrefix("ALTER TABLE ") && statement.contains(" ADD COLUMN ")
                    && (!statement.contains("NOT NULL") || statement.contains(" DEFAULT "))
                // Whoever asks without it finds the same.
                let isIndex = statement.hasPrefix("DROP INDEX ")
                // What nodes of the version before must not go on with: they refuse from then on.
                let isCut =
                    switch migration.identifier {
                    case 24: ["DROP TABLE changes", "DROP TABLE change_counter"].contains(statement)
                    case 31: statement == "ALTER TABLE spent_nonces RENAME TO former_nonces"
                    // One process alone has a file. To the nodes of a server a constraint less is none.
                    case 52:
                        statement == "ALTER TABLE sessions DROP CONSTRAINT sessions_token_hash_key"
                            || migration.statements.contains { $0.hasPrefix("CREATE TABLE sessions_rebuilt (") }
                                && ["DROP TABLE sessions", "ALTER TABLE sessions_rebuilt RENAME TO sessions"].contains(
                                    statement)
                            || statement.hasPrefix("CREATE UNIQUE INDEX sessions_by_former_token ")
                    default: false
                    }
                #expect(isNew || isOptional || isIndex || isCut, "migration \(migration.identifier): \(statement)")
            }
        }
    }

    @Test("leaves nodes of before schema 31 no way to spend a nonce", arguments: StoreKind.shared)
    func nonceCut(kind: StoreKind) async throws {
        let before = Schema.migrations.filter { $0.identifier < 31 }
        try await withStore(kind, migrations: before) { store in
            let spend: @Sendable (any Transaction) throws -> Int = {
                try $0.execute(
                    "INSERT INTO spent_nonces (expires_at, nonce) VALUES ($1, $2)", [.integer(1), .bytes([1])])
            }
            try await store.write(spend)
            try await store.migrate(Schema.migrations)
            let error = await #expect(throws: StoreError.self) { try await store.write(spend) }
            guard case .statement = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let kept = try await store.read { try $0.first("SELECT nonce FROM former_nonces")?.bytes(0) }
            #expect(kept == [1])
        }
    }

    @Test(
        "leaves nothing of what nodes of before schema 24 ask for and write changes to: they fail, and decide nothing",
        arguments: StoreKind.shared)
    func cut(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            for question in ["SELECT value FROM change_counter WHERE id = 1", "SELECT sequence FROM changes"] {
                let error = await #expect(throws: StoreError.self) { try await store.read { try $0.first(question) } }
                guard case .statement = error else {
                    Issue.record("\(question): \(String(describing: error))")
                    continue
                }
            }
        }
    }
}
