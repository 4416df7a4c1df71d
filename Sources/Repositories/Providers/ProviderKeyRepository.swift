import Database
import Domain
import Encoding
import Foundation

/// Providers' public keys.
package struct ProviderKeyRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns =
        "id, provider_id, algorithm, subject_public_key_info, origin, added_by, created_at, retired_at, revoked_at"

    /// Writes a new key; `false` where the same key is or was registered, by anyone.
    package func insert(_ key: ProviderKeyRecord) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO provider_keys (\(Self.columns), key_hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (key_hash) DO NOTHING
            """,
            [
                .id(key.id), .id(key.providerID), .text(key.algorithm), .bytes(key.subjectPublicKeyInfo),
                .text(key.origin.rawValue), .optional(key.addedBy?.description), .time(key.createdAt),
                .time(key.retiredAt), .time(key.revokedAt),
                .bytes(Digest256.of(key.subjectPublicKeyInfo).bytes),
            ]) > 0
    }

    /// The key with an id.
    package func find(_ id: ProviderKeyID) throws -> ProviderKeyRecord? {
        try transaction.first("SELECT \(Self.columns) FROM provider_keys WHERE id = $1", [.id(id)]).map(Self.key)
    }

    /// A provider's keys, oldest first.
    package func list(of id: ProviderID) throws -> [ProviderKeyRecord] {
        try transaction.query(
            "SELECT \(Self.columns) FROM provider_keys WHERE provider_id = $1 ORDER BY created_at, id", [.id(id)]
        ).map(Self.key)
    }

    /// Retires a key: it signs nothing new, the sessions that it opened go on.
    package func retire(_ id: ProviderKeyID, at time: Date) throws {
        try transaction.execute(
            "UPDATE provider_keys SET retired_at = $2 WHERE id = $1 AND retired_at IS NULL", [.id(id), .time(time)])
    }

    /// Revokes a key: it counts for nothing.
    package func revoke(_ id: ProviderKeyID, at time: Date) throws {
        try transaction.execute(
            "UPDATE provider_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", [.id(id), .time(time)])
    }

    /// Whether, seen from inside this transaction, a key may act for a provider: both count at this moment, whatever a
    /// node's memory says.
    package func mayAct(_ id: ProviderKeyID, for provider: ProviderID) throws -> Bool {
        try transaction.first(
            """
            SELECT 1 FROM provider_keys AS k JOIN providers AS p ON p.id = k.provider_id
            WHERE k.id = $1 AND p.id = $2 AND k.revoked_at IS NULL AND k.retired_at IS NULL AND p.disabled_at IS NULL
            """, [.id(id), .id(provider)]) != nil
    }

    private static func key(_ row: Row) throws -> ProviderKeyRecord {
        ProviderKeyRecord(
            id: try row.id(0), providerID: try row.id(1), algorithm: try row.text(2),
            subjectPublicKeyInfo: try row.bytes(3), origin: try row.word(4),
            addedBy: try row.textOrNull(5).flatMap { ProviderKeyID($0[...]) }, createdAt: try row.time(6),
            retiredAt: try row.timeOrNull(7), revokedAt: try row.timeOrNull(8))
    }
}
