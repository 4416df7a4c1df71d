import Database
import Domain
import Encoding
import Foundation

/// Certification requests that were granted a moment ago: an answer that was lost on the way is given again.
package struct RepeatedRequestRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Remembers what a request was given.
    ///
    /// - Parameters:
    ///   - hash: SHA-256 of the request's bytes.
    ///   - certificatePEM: the certificate, which is no secret.
    package func remember(_ hash: Digest256, serial: String, certificatePEM: String, until end: Date) throws {
        try transaction.enqueue(
            """
            INSERT INTO recent_certifications (request_hash, serial, certificate, expires_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (request_hash) DO UPDATE
            SET serial = excluded.serial, certificate = excluded.certificate, expires_at = excluded.expires_at
            """, [.bytes(hash.bytes), .text(serial), .text(certificatePEM), .time(end)])
    }

    /// What a request was given, and the presence key of its device; whether the certificate still counts is not asked.
    package func find(
        _ hash: Digest256
    ) throws -> (certificate: DeviceCertificate, certificatePEM: String, presenceKey: String?)? {
        let row = try transaction.first(
            "SELECT serial, certificate FROM recent_certifications WHERE request_hash = $1 AND expires_at > $2",
            [.bytes(hash.bytes), .time(transaction.now)])
        guard let row, let certificate = try CertificateRepository(transaction).find(serial: try row.text(0)) else {
            return nil
        }
        return (certificate, try row.text(1), try DeviceRepository(transaction).presenceKey(of: certificate.deviceID))
    }

    /// Forgets what nobody asks for again.
    package func purge() throws {
        try transaction.execute("DELETE FROM recent_certifications WHERE expires_at <= $1", [.time(transaction.now)])
    }
}
