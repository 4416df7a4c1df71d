import Authority
import Database
import Domain
import Repositories

package extension Administration {
    /// A device with its certificates, newest first, its open sessions, newest first, at most 100, and the bans in force on
    /// it. A ban revokes no certificate: it refuses the device until it ends.
    typealias DeviceDetail = (
        summary: DeviceSummary, certificates: [DeviceCertificate], sessions: [Session], bans: [Ban]
    )

    /// The newest devices, with their numbers of certificates and sessions.
    ///
    /// - Parameters:
    ///   - cursor: the id of the last device on the previous page.
    ///   - user: a user with a stored session on the devices, open or not; `nil` for all devices.
    ///   - attestation: what the makers of the devices attested; `nil` for any.
    /// - Throws: `Refusal` `not_found` for a user, or for a cursor that no longer exists.
    func listDevices(
        limit: Int, after cursor: String? = nil, user: String? = nil, attestation: DeviceAttestation.Level? = nil
    ) async throws -> [DeviceSummary] {
        try await read(.manage) { transaction in
            let devices = DeviceRepository(transaction)
            guard let user else { return try devices.list(attestation, limit: limit, after: cursor) }
            return try devices.list(
                of: UserSummary.find(user, in: transaction).user.id, attestation, limit: limit, after: cursor)
        }
    }

    /// The device with an id.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readDevice(_ id: DeviceID) async throws -> DeviceDetail {
        try await read(.manage) { transaction in
            // None of the queries depends on another, so that they are one statement.
            let found = try DeviceRepository(transaction).find(id)
            let certificates = try CertificateRepository(transaction).list(deviceID: id)
            let sessions = try SessionRepository(transaction).newestOpen(.device(id), limit: 100)
            let entries = try BanRepository(transaction).entries(on: [.device(id)])
            guard let found else { throw Refusal.unknownDevice(id) }
            let bans = entries.filter { $0.isActive(at: transaction.now) }.map(\.ban)
            return (summary: found, certificates: certificates, sessions: sessions, bans: bans)
        }
    }

    /// The newest certificates.
    ///
    /// - Parameter cursor: the serial number of the last certificate on the previous page.
    /// - Throws: `Refusal` `not_found` for a cursor that no longer exists.
    func listCertificates(limit: Int, after cursor: String? = nil) async throws -> [DeviceCertificate] {
        try await read(.manage) { try CertificateRepository($0).list(limit: limit, after: cursor) }
    }

    /// The certificate with a serial number in any usual form, or the only one whose number begins with it, and its
    /// direct and indirect renewals, oldest first.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if several numbers have the beginning.
    func readCertificate(
        serial: String
    ) async throws -> (certificate: DeviceCertificate, successors: [DeviceCertificate]) {
        let unknown = Refusal.unknownCertificate(serial: serial)
        return try await read(.manage) { transaction in
            let records = CertificateRepository(transaction)
            let whole = try IssuedCertificate.canonicalSerial(serial).flatMap { try records.find(serial: $0) }
            guard let certificate = try whole ?? Self.only(serial, among: records) else { throw unknown }
            let lineage = CertificateLineage(try records.list(deviceID: certificate.deviceID))
            return (certificate, lineage.successors(of: certificate.serial))
        }
    }

    /// The only certificate whose serial number begins with a text; `nil` if there is none, or the text is too short.
    private static func only(_ serial: String, among records: CertificateRepository) throws -> DeviceCertificate? {
        let digits = serial.replacing(":", with: "").lowercased()
        guard digits.utf8.count >= TypedID<Kind.Device>.fewest, digits.allSatisfy({ "0123456789abcdef".contains($0) })
        else { return nil }
        let found = try records.serials(beginningWith: digits, limit: 6)
        guard found.count <= 1 else {
            throw Refusal.severalBegin(with: serial, Array(found.prefix(5)), isMore: found.count > 5)
        }
        return try found.first.flatMap { try records.find(serial: $0) }
    }
}
