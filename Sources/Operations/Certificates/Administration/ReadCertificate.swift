import Authority
import Database
import Domain
import Repositories

/// One certificate as an admin sees it.
package struct ReadCertificate: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The certificate with a serial number in any usual form, and what was renewed from it, and from that, oldest first.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(
        serial: String
    ) async throws -> (certificate: DeviceCertificate, successors: [DeviceCertificate]) {
        let unknown = Refusal(.notFound, "There is no certificate with the serial number \(serial).")
        guard let canonical = IssuedCertificate.canonicalSerial(serial) else { throw unknown }
        return try await context.store.snapshot { transaction in
            let records = CertificateRepository(transaction)
            guard let certificate = try records.find(serial: canonical) else { throw unknown }
            let lineage = CertificateLineage(try records.list(deviceID: certificate.deviceID))
            return (certificate, lineage.successors(of: certificate.serial))
        }
    }
}
