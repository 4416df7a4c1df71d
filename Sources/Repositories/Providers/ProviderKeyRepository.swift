import Database
import Domain
import Encoding
import Foundation

package struct ProviderKeyRepository {
    private let transaction: any Transaction
}

package extension ProviderKeyRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<ProviderKeyRecord>(
        "provider_keys", ProviderKeyRecord.init,
        Field("id", \.id),
        Field("provider_id", \.providerID),
        Field("algorithm", \.algorithm),
        Field("subject_public_key_info", \.subjectPublicKeyInfo),
        Field("origin", \.origin),
        Field("added_by", \.addedBy),
        Field("created_at", \.createdAt),
        Field("retired_at", \.retiredAt),
        Field("revoked_at", \.revokedAt),
        Field("issuer_key_id", \.issuerKeyID))
    private static let insertion = columns.insertion(with: "key_hash")

    /// Inserts a new key; `false` if the same key is or was registered by any provider. Issuers' keys are exempt:
    /// several providers may have one issuer, and no provider may register its keys first.
    func insert(_ key: ProviderKeyRecord) throws -> Bool {
        try transaction.execute(
            "\(Self.insertion) ON CONFLICT (key_hash) DO NOTHING", Self.columns.row(key, Self.hash(of: key).value)) > 0
    }

    /// The unique digest of a key. An issuer's key is unique only within its provider.
    private static func hash(of key: ProviderKeyRecord) -> Digest256 {
        guard key.origin == .issuer else { return Digest256.of(key.subjectPublicKeyInfo) }
        let name = key.issuerKeyID ?? ""
        return Digest256.of(Array("\(key.providerID) \(key.algorithm) \(name) ".utf8) + key.subjectPublicKeyInfo)
    }

    func find(_ id: ProviderKeyID) throws -> ProviderKeyRecord? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// A provider's keys, oldest first.
    func list(of id: ProviderID) throws -> [ProviderKeyRecord] {
        try transaction.query(Self.columns, "WHERE provider_id = $1 ORDER BY created_at, id", [.id(id)])
    }

    /// Retires a key: nothing new is signed with it, and its sessions continue.
    func retire(_ id: ProviderKeyID, at time: Date) throws {
        try transaction.execute(
            "UPDATE provider_keys SET retired_at = $2 WHERE id = $1 AND retired_at IS NULL", [.id(id), .time(time)])
    }

    /// Reverses a retirement, because the key is in its issuer's key set again.
    func reinstate(_ id: ProviderKeyID) throws {
        try transaction.execute("UPDATE provider_keys SET retired_at = NULL WHERE id = $1", [.id(id)])
    }

    /// Deletes an issuer's key that left its key set before a time, unless an open session depends on it. A revoked key
    /// stays, so that it is refused for ever.
    func purge(_ id: ProviderKeyID, goneBefore moment: Date) throws {
        try transaction.execute(
            """
            DELETE FROM provider_keys WHERE id = $1 AND origin = 'issuer' AND revoked_at IS NULL AND retired_at < $2
                AND NOT EXISTS (
                    SELECT 1 FROM sessions s WHERE s.provider_key_id = $1 AND s.state <> 'unauthenticated')
            """, [.id(id), .time(moment)])
    }

    /// Revokes a key: nothing that it signed is valid any longer.
    func revoke(_ id: ProviderKeyID, at time: Date) throws {
        try transaction.execute(
            "UPDATE provider_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", [.id(id), .time(time)])
    }

    /// Whether a key may act for a provider: in this transaction both are active, whatever a node's cache contains.
    func mayAct(_ id: ProviderKeyID, for provider: ProviderID) throws -> Bool {
        try transaction.first(
            """
            SELECT 1 FROM provider_keys AS k JOIN providers AS p ON p.id = k.provider_id
            WHERE k.id = $1 AND p.id = $2 AND k.revoked_at IS NULL AND k.retired_at IS NULL AND p.disabled_at IS NULL
            """, [.id(id), .id(provider)]) != nil
    }
}
