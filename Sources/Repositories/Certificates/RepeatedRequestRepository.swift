import Database
import Domain
import Encoding
import Foundation

/// Certification requests that were granted a moment ago, so that a lost response can be repeated.
package struct RepeatedRequestRepository {
    private let transaction: any Transaction
}

package extension RepeatedRequestRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<Digest256>("request_hash"), Column<String>("serial"), Column<String>("certificate"),
        Column<String?>("places"), Column<Date>("expires_at"))
    private static let given = ColumnTuple(Column<String>("serial"), Column<String>("certificate"))

    /// Stores the response to a request.
    ///
    /// - Parameters:
    ///   - hash: SHA-256 of the request's bytes.
    ///   - certificatePEM: the certificate, which is not secret.
    ///   - places: the places that the request took in its sender's limits, if they can still become free.
    func remember(
        _ hash: Digest256, serial: String, certificatePEM: String, places: RateRepository.Places?, until end: Date
    ) throws {
        try transaction.enqueue(
            """
            INSERT INTO recent_certifications (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (request_hash) DO UPDATE
            SET serial = excluded.serial, certificate = excluded.certificate, places = excluded.places,
                expires_at = excluded.expires_at
            """, Self.columns.row(hash, serial, certificatePEM, places?.text, end))
    }

    /// Frees the places that a device's certification took in its sender's limits, once: a person uses the device.
    func giveBackPlaces(of device: DeviceID) throws {
        let places = try transaction.values(
            """
            SELECT recent.places FROM recent_certifications recent
            JOIN certificates ON certificates.serial = recent.serial
            WHERE certificates.device_id = $1 AND recent.places IS NOT NULL
            """, [.id(device)], as: String.self)
        guard !places.isEmpty else { return }
        try transaction.enqueue(
            """
            UPDATE recent_certifications SET places = NULL
            WHERE serial IN (SELECT serial FROM certificates WHERE device_id = $1)
            """, [.id(device)])
        for text in places { try RateRepository(transaction).giveBack(RateRepository.Places(text: text)) }
    }

    /// The stored response to a request, and its device's presence key. The certificate may have been revoked since.
    func find(
        _ hash: Digest256
    ) throws -> (certificate: DeviceCertificate, certificatePEM: String, presenceKey: String?)? {
        let row = try transaction.first(
            "SELECT \(Self.given) FROM recent_certifications WHERE request_hash = $1 AND expires_at > $2",
            [hash.value, .time(transaction.now)])
        guard let (serial, pem) = try row.map(Self.given.read),
            let certificate = try CertificateRepository(transaction).find(serial: serial)
        else { return nil }
        return (certificate, pem, try DeviceRepository(transaction).presenceKey(of: certificate.deviceID))
    }

    private static let old = AgedRows(of: "recent_certifications", key: "request_hash", age: "expires_at")

    @discardableResult
    func purge(_ batch: MaintenanceBatch = MaintenanceBatch()) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: transaction.now.milliseconds + 1, batch, in: transaction)
    }
}
