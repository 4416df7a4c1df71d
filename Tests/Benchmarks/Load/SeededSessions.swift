import Database
import Domain
import Fixtures
import Foundation

/// Rows of sessions and users as the service itself would have written them, made inside the store: a million in
/// seconds.
struct SeededSessions {
    let store: String
    let isPostgreSQL: Bool
    let device: LoadDevice
    let provider: BenchmarkProvider

    private static let perUser = 8
    private static let atOnce = 20_000

    private var identifier: String {
        isPostgreSQL ? "CAST(gen_random_uuid() AS TEXT)" : Self.embeddedIdentifier
    }
    private var digest: String {
        isPostgreSQL ? "sha256(CAST('stored ' || n.i AS BYTEA))" : "randomblob(32)"
    }
    static let embeddedIdentifier = """
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
            || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
        """

    /// Adds sessions, numbered from a number on, eight to a user.
    func add(_ count: Int, from first: Int) async throws {
        let database = try StoreURL.parse(store).open(clock: { Date() })
        for start in stride(from: first, to: first + count, by: Self.atOnce) {
            let end = min(first + count, start + Self.atOnce)
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let users: [Value] = [
                .integer(Int64(start / Self.perUser)), .integer(Int64((end + Self.perUser - 1) / Self.perUser)),
                .text(provider.id.description), .integer(now),
            ]
            let sessions: [Value] = [
                .integer(Int64(start)), .integer(Int64(end)), .text(provider.id.description), .integer(now),
                .text(provider.application.description), .text(device.id), .text(provider.rs256.id.description),
            ]
            let numbers = "WITH RECURSIVE n(i) AS (SELECT $1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $2)"
            let (identifier, digest) = (identifier, digest)
            try await database.write { transaction in
                try transaction.execute(
                    """
                    \(numbers) INSERT INTO users (id, provider_id, external_id, assurance, created_at, held)
                    SELECT \(identifier), $3, 'stored-' || n.i, 'none', $4, 0 FROM n
                    WHERE true ON CONFLICT (provider_id, external_id) DO NOTHING
                    """, users)
                try transaction.execute(
                    """
                    \(numbers) INSERT INTO sessions (
                        id, token_hash, user_id, provider_id, external_id, application_id, device_id, thumbprint,
                        provider_key_id, user_generation, device_generation, provider_generation, key_generation,
                        state, created_at, renewed_at, last_used_at
                    )
                    SELECT \(identifier), \(digest), u.id, $3, u.external_id, $5, $6,
                        (SELECT thumbprint FROM certificates WHERE device_id = $6), $7, 0, 0, 0, 0,
                        'authenticated', $4, $4, $4
                    FROM n JOIN users u ON u.provider_id = $3 AND u.external_id = 'stored-' || (n.i / \(Self.perUser))
                    """, sessions)
            }
            FileHandle.standardError.write(Data("  … \(end) sessions stored\r".utf8))
        }
        if isPostgreSQL { try await database.write { try $0.execute("ANALYZE") } }
        try await database.close()
    }
}
