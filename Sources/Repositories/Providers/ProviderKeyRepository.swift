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

    /// Writes a new key; `false` if the same key is or was registered, by anyone. Keys of issuers are no such keys: several
    /// providers may have the same issuer, and nobody may claim its keys before it.
    package func insert(_ key: ProviderKeyRecord) throws -> Bool {
        try transaction.execute(
            "\(Self.insertion) ON CONFLICT (key_hash) DO NOTHING", Self.columns.row(key, Self.hash(of: key).value)) > 0
    }

    /// By what keys are told apart: an issuer's inside its provider alone.
    private static func hash(of key: ProviderKeyRecord) -> Digest256 {
        guard key.origin == .issuer else { return Digest256.of(key.subjectPublicKeyInfo) }
        let name = key.issuerKeyID ?? ""
        return Digest256.of(Array("\(key.providerID) \(key.algorithm) \(name) ".utf8) + key.subjectPublicKeyInfo)
    }

    /// The key with an id.
    package func find(_ id: ProviderKeyID) throws -> ProviderKeyRecord? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// A provider's keys, oldest first.
    package func list(of id: ProviderID) throws -> [ProviderKeyRecord] {
        try transaction.query(Self.columns, "WHERE provider_id = $1 ORDER BY created_at, id", [.id(id)])
    }

    /// Retires a key: it signs nothing new, the sessions that it opened go on.
    package func retire(_ id: ProviderKeyID, at time: Date) throws {
        try transaction.execute(
            "UPDATE provider_keys SET retired_at = $2 WHERE id = $1 AND retired_at IS NULL", [.id(id), .time(time)])
    }

    /// Takes a retirement back: the key is in its issuer's key set again.
    package func reinstate(_ id: ProviderKeyID) throws {
        try transaction.execute("UPDATE provider_keys SET retired_at = NULL WHERE id = $1", [.id(id)])
    }

    /// Removes an issuer's key that left its key set before a moment, if no open session hangs on it. A revoked one stays, so
    /// that it is refused for good.
    package func purge(_ id: ProviderKeyID, goneBefore moment: Date) throws {
        try transaction.execute(
            """
            DELETE FROM provider_keys WHERE id = $1 AND origin = 'issuer' AND revoked_at IS NULL AND retired_at < $2
                AND NOT EXISTS (
                    SELECT 1 FROM sessions s WHERE s.provider_key_id = $1 AND s.state <> 'unauthenticated')
            """, [.id(id), .time(moment)])
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
