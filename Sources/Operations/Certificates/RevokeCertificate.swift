import Authority
import Database
import Domain
import Foundation
import Repositories
import Synchronization

/// Revokes a certificate in the transaction of an authorized change.
///
/// If the key was compromised, all certificates of that key and their renewals are revoked too, even if the certificate
/// was superseded long ago. The thief of a superseded certificate's key may have requested the present one.
struct RevokeCertificate {
    let reason: RevocationReason
    let actor: String
    let transaction: any Transaction

    /// Revokes the certificate with a serial number.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it is already revoked.
    func callAsFunction(serial: String, _ events: inout RecordedEvents) throws {
        let records = CertificateRepository(transaction)
        guard let certificate = try records.find(serial: serial) else {
            throw Refusal.unknownCertificate(serial: serial)
        }
        let device = certificate.deviceID
        let notify = try NotifyOfRevocation(device, in: transaction)
        let others = try reason.isCompromise ? compromise(certificate) : withdraw(certificate)
        for other in others {
            events.record(
                .certificateRevoked(other, device, detail: "with \(serial)"), by: actor,
                because: AuditReason(reason.rawValue))
        }
        try notify.keep([serial])
        let remaining = try records.list(deviceID: device).contains { $0.revoked == nil }
        if !remaining { try RevokeSessions(transaction: transaction)(.device(device), .certificateRevoked, &events) }
        events.record(
            .certificateRevoked(serial, device, detail: nil), by: actor, because: AuditReason(reason.rawValue))
        notify([serial], &events)
    }

    /// Revokes a valid certificate and its unused renewals. Returns the renewals' serial numbers.
    private func withdraw(_ certificate: DeviceCertificate) throws -> [String] {
        let records = CertificateRepository(transaction)
        guard try records.revoke(serial: certificate.serial, at: transaction.now, reason: reason.rawValue) else {
            throw Refusal.alreadyRevoked
        }
        return try records.listUnseenRenewals(of: certificate.serial).filter {
            try records.revoke(serial: $0, at: transaction.now, reason: reason.rawValue)
        }
    }

    /// Revokes all certificates that the thief of a certificate's key may have. Returns the other serial numbers.
    private func compromise(_ certificate: DeviceCertificate) throws -> [String] {
        let records = CertificateRepository(transaction)
        let lost = CertificateLineage(try records.list(deviceID: certificate.deviceID)).compromised(
            by: certificate.serial)
        let revoked = try lost.map(\.serial).filter {
            try records.compromise(serial: $0, at: transaction.now, reason: reason.rawValue)
        }
        guard !revoked.isEmpty else { throw Refusal.alreadyRevoked }
        return revoked.filter { $0 != certificate.serial }
    }
}

/// Notifies the providers of a device's users that one of its certificates was revoked. The first users are included in
/// the transaction of the revocation, the others are left to a maintenance task.
struct NotifyOfRevocation {
    private let device: DeviceID
    private let holders: [(user: UserID, provider: ProviderID)]
    private let transaction: any Transaction

    /// The number of users that the transaction of the revocation includes.
    static let atOnce = 100

    /// Reads the users with a session, before the revocation ends it.
    init(_ device: DeviceID, in transaction: any Transaction) throws {
        self.device = device
        self.transaction = transaction
        holders = try SessionRepository(transaction).users(on: device, limit: Self.atOnce)
    }

    /// Records the users who are not read yet for the maintenance task, before their sessions end.
    func keep(_ serials: [String]) throws {
        guard holders.count == Self.atOnce, let last = holders.last else { return }
        for serial in serials {
            try CertificateNoticeRepository(transaction).add(serial, on: device, after: last.user)
        }
    }

    /// Records the events of the users that were read.
    func callAsFunction(_ serials: [String], _ events: inout RecordedEvents) {
        for serial in serials {
            for holder in holders {
                events.record(.userCertificateRevoked(serial: serial, holder.user, of: holder.provider))
            }
        }
    }
}

package extension Service {
    /// Revokes the certificate of a connection, within a second on every node. The device's sessions end, and the
    /// connection is closed after the response.
    ///
    /// - Throws: `Refusal` `conflict` if it is already revoked.
    func revokeOwnCertificate(of connection: ClientConnection) async throws {
        guard let certificate = connection.certificate?.certificate else { return }
        connection.endsWithItsAnswer.store(true, ordering: .relaxed)
        try await write { transaction, events in
            try RevokeCertificate(
                reason: .cessationOfOperation, actor: "device \(certificate.deviceID)", transaction: transaction
            )(serial: certificate.serial, &events)
        }
        connection.revoke()
    }
}
