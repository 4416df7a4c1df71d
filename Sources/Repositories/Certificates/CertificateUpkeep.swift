import Database
import Domain
import Encoding
import Foundation

/// Purges certificates, and keeps the keys that must stay refused.
package struct CertificateUpkeep {
    private let transaction: any Transaction
}

package extension CertificateUpkeep {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let ended = AgedRows(of: "certificates", key: "thumbprint", age: "not_after")
    private static let unseen = AgedRows(
        "UPDATE certificates SET \(CertificateRepository.supersession("$3"))", of: "certificates", key: "thumbprint",
        age: "issued_at", and: CertificateRepository.isUnseen)

    /// Deletes certificates that expired before a time, and devices without any left. A revoked key stays refused for
    /// ever.
    func purge(
        endedBefore end: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try delete(before: end, batch)
    }

    /// Stops admitting certificates that were issued before a time and never used. They stay until they expire.
    func unadmit(
        issuedBefore issue: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        let rows = Self.unseen
        let ages: [Int64] = try transaction.values(
            rows.statement(limit: batch.limit, returning: rows.age.sql),
            rows.arguments(before: issue.milliseconds, batch) + [.time(transaction.now)])
        return rows.outcome(ages, of: batch)
    }

    /// The maximum number of certificates deleted in a transaction, because each needs several statements.
    private static let most = 250

    /// Keeps keys by the deleted rows, because a certificate may have been revoked a moment before.
    private func delete(before moment: Date, _ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let rows = Self.ended
        let batch = MaintenanceBatch(after: batch.after, limit: min(batch.limit, Self.most))
        let gone = ColumnTuple(
            rows.age, Column<DeviceID>("device_id"), Column<Digest256>("key_hash"),
            Column<String?>("revocation_reason"))
        let deleted = try transaction.query(
            rows.statement(limit: batch.limit, returning: gone.description),
            rows.arguments(before: moment.milliseconds, batch)
        ).map(gone.read)
        for case (_, _, let keyHash, let reason?) in deleted where reason != "superseded" {
            try keep(revoked: keyHash)
        }
        for device in Set(deleted.map(\.1)) {
            try transaction.enqueue(
                """
                DELETE FROM devices WHERE id = $1
                AND NOT EXISTS (SELECT 1 FROM certificates WHERE certificates.device_id = devices.id)
                """, [.id(device)])
        }
        return rows.outcome(deleted.map(\.0), of: batch)
    }

    /// Keeps a key refused after its revoked certificate is deleted.
    func keep(revoked keyHash: Digest256) throws {
        try transaction.enqueue(
            "INSERT INTO revoked_keys (key_hash) VALUES ($1) ON CONFLICT (key_hash) DO NOTHING", [keyHash.value])
    }

    /// Whether a key was revoked with a deleted certificate.
    func isRevoked(_ keyHash: Digest256) throws -> Bool {
        try transaction.first("SELECT 1 FROM revoked_keys WHERE key_hash = $1", [keyHash.value]) != nil
    }

    /// The keys that were revoked with deleted certificates.
    func revokedKeys() throws -> [Digest256] {
        try transaction.values("SELECT key_hash FROM revoked_keys")
    }
}
