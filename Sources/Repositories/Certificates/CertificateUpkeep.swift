import Database
import Domain
import Encoding
import Foundation

/// What becomes of certificates that nothing needs any more, and of the keys that must stay refused.
package struct CertificateUpkeep {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let ended = AgedRows(of: "certificates", key: "thumbprint", age: "not_after")
    private static let unseen = AgedRows(
        "UPDATE certificates SET \(CertificateRepository.supersession("$3"))", of: "certificates", key: "thumbprint",
        age: "issued_at", and: CertificateRepository.isUnseen)

    /// Deletes certificates that ran out before a moment, with the devices that have none left. A key that was revoked
    /// stays refused for ever.
    package func purge(
        endedBefore end: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try delete(before: end, batch)
    }

    /// Admits certificates no more that were issued before a moment and never shown. They stay until they run out.
    package func unadmit(
        issuedBefore issue: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        let rows = Self.unseen
        let ages: [Int64] = try transaction.values(
            rows.statement(limit: batch.limit, returning: rows.age.sql),
            rows.arguments(before: issue.milliseconds, batch) + [.time(transaction.now)])
        return rows.outcome(ages, of: batch)
    }

    /// How many certificates one transaction deletes at most: each costs several statements.
    private static let most = 250

    /// What is decided by the deleted row is read with it: it may have been revoked a moment before.
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

    /// Keeps a key refused without the certificate that it was revoked with.
    package func keep(revoked keyHash: Digest256) throws {
        try transaction.enqueue(
            "INSERT INTO revoked_keys (key_hash) VALUES ($1) ON CONFLICT (key_hash) DO NOTHING", [keyHash.value])
    }

    /// Whether a key was revoked with a certificate that is gone.
    package func isRevoked(_ keyHash: Digest256) throws -> Bool {
        try transaction.first("SELECT 1 FROM revoked_keys WHERE key_hash = $1", [keyHash.value]) != nil
    }

    /// The keys that were revoked with certificates that are gone.
    package func revokedKeys() throws -> [Digest256] {
        try transaction.values("SELECT key_hash FROM revoked_keys")
    }
}
