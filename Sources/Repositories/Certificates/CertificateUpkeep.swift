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

    /// Deletes some certificates that ran out before a moment, or were issued before another one and never shown, with the
    /// devices that have none left. A key that was revoked stays refused for ever.
    ///
    /// - Parameter limit: how many at most of each kind: it bounds how long other writers wait.
    /// - Returns: how many; fewer than `limit` of each kind when none is left.
    package func purge(endedBefore end: Date, unseenSince issue: Date, limit: Int) throws -> Int {
        let ended = try delete(
            """
            SELECT \(Self.ended) FROM certificates WHERE not_after < $1
            ORDER BY not_after LIMIT $2
            """, [.time(end), Value(limit)])
        // A revoked one is on the revocation list until it runs out.
        let unseen = try delete(
            """
            SELECT \(Self.ended) FROM certificates
            WHERE first_seen_at IS NULL AND issued_at < $1 AND revoked_at IS NULL ORDER BY issued_at LIMIT $2
            """, [.time(issue), Value(limit)])
        return ended + unseen
    }

    private static let ended = {
        let columns = Selection(CertificateColumns.self).each
        return ColumnTuple(columns.thumbprint, columns.deviceID, columns.keyHash, columns.revocationReason)
    }()

    private func delete(_ selection: String, _ arguments: [Value]) throws -> Int {
        let rows = try transaction.query(selection, arguments).map(Self.ended.read)
        var devices: Set<DeviceID> = []
        for (thumbprint, device, keyHash, reason) in rows {
            if let reason, reason != "superseded" { try keep(revoked: keyHash) }
            try transaction.enqueue("DELETE FROM certificates WHERE thumbprint = $1", [thumbprint.value])
            devices.insert(device)
        }
        for device in devices {
            try transaction.enqueue(
                """
                DELETE FROM devices WHERE id = $1
                AND NOT EXISTS (SELECT 1 FROM certificates WHERE certificates.device_id = devices.id)
                """, [.id(device)])
        }
        return rows.count
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
