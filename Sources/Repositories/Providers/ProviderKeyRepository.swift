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

    private static let columns = Selection(ProviderKeyColumns.self)

    /// Writes a new key; `false` if the same key is or was registered, by anyone.
    package func insert(_ key: ProviderKeyRecord) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO provider_keys (\(Self.columns.all)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (key_hash) DO NOTHING
            """, Self.columns.row { $0.write(key, to: &$1) }) > 0
    }

    /// The key with an id.
    package func find(_ id: ProviderKeyID) throws -> ProviderKeyRecord? {
        try transaction.first("SELECT \(Self.columns) FROM provider_keys WHERE id = $1", [.id(id)]).map(
            Self.columns.each.key)
    }

    /// A provider's keys, oldest first.
    package func list(of id: ProviderID) throws -> [ProviderKeyRecord] {
        try transaction.query(
            "SELECT \(Self.columns) FROM provider_keys WHERE provider_id = $1 ORDER BY created_at, id", [.id(id)]
        ).map(Self.columns.each.key)
    }

    /// Retires a key: it signs nothing new, the sessions that it opened go on.
    package func retire(_ id: ProviderKeyID, at time: Date) throws {
        try transaction.execute(
            "UPDATE provider_keys SET retired_at = $2 WHERE id = $1 AND retired_at IS NULL", [.id(id), .time(time)])
    }

    /// Revokes a key: nothing that it signed is valid any more.
    package func revoke(_ id: ProviderKeyID, at time: Date) throws {
        try transaction.execute(
            "UPDATE provider_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", [.id(id), .time(time)])
    }

    /// Whether, seen from inside this transaction, a key may act for a provider: both are in use at this moment, whatever
    /// a node's memory says.
    package func mayAct(_ id: ProviderKeyID, for provider: ProviderID) throws -> Bool {
        try transaction.first(
            """
            SELECT 1 FROM provider_keys AS k JOIN providers AS p ON p.id = k.provider_id
            WHERE k.id = $1 AND p.id = $2 AND k.revoked_at IS NULL AND k.retired_at IS NULL AND p.disabled_at IS NULL
            """, [.id(id), .id(provider)]) != nil
    }
}

/// The columns of `provider_keys`.
private struct ProviderKeyColumns: ColumnSet {
    let id: Column<ProviderKeyID>
    let providerID: Column<ProviderID>
    let algorithm: Column<String>
    let subjectPublicKeyInfo: Column<[UInt8]>
    let origin: Column<ProviderKeyRecord.Origin>
    let addedBy: Column<ProviderKeyID?>
    let createdAt: Column<Date>
    let retiredAt: Column<Date?>
    let revokedAt: Column<Date?>
    let keyHash: Column<Digest256>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        providerID = list.add("provider_id")
        algorithm = list.add("algorithm")
        subjectPublicKeyInfo = list.add("subject_public_key_info")
        origin = list.add("origin")
        addedBy = list.add("added_by")
        createdAt = list.add("created_at")
        retiredAt = list.add("retired_at")
        revokedAt = list.add("revoked_at")
        keyHash = list.addWritten("key_hash")
    }

    func key(_ row: Row) throws -> ProviderKeyRecord {
        ProviderKeyRecord(
            id: try row[id], providerID: try row[providerID], algorithm: try row[algorithm],
            subjectPublicKeyInfo: try row[subjectPublicKeyInfo], origin: try row[origin],
            addedBy: try row[addedBy], createdAt: try row[createdAt], retiredAt: try row[retiredAt],
            revokedAt: try row[revokedAt])
    }

    func write(_ key: ProviderKeyRecord, to row: inout NewRow) {
        row.set(id, key.id)
        row.set(providerID, key.providerID)
        row.set(algorithm, key.algorithm)
        row.set(subjectPublicKeyInfo, key.subjectPublicKeyInfo)
        row.set(origin, key.origin)
        row.set(addedBy, key.addedBy)
        row.set(createdAt, key.createdAt)
        row.set(retiredAt, key.retiredAt)
        row.set(revokedAt, key.revokedAt)
        row.set(keyHash, Digest256.of(key.subjectPublicKeyInfo))
    }
}
