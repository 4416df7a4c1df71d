import Authority
import Database
import Domain
import Foundation
import Repositories
import Synchronization

/// Ends a certificate before its time, in the transaction of whoever may.
///
/// Where the key is in other hands, the certificates of that key and all that were renewed from one of them are revoked
/// with it, also if it was superseded long ago: whoever holds the key of a superseded certificate may be who had the
/// present one made.
struct RevokeCertificate {
    let reason: RevocationReason
    let actor: String
    let transaction: any Transaction

    /// Revokes by serial number.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` where it is revoked already.
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

    /// Revokes a valid certificate, with the renewals that were made of it and not shown; their serials.
    private func withdraw(_ certificate: DeviceCertificate) throws -> [String] {
        let records = CertificateRepository(transaction)
        guard try records.revoke(serial: certificate.serial, at: transaction.now, reason: reason.rawValue) else {
            throw Refusal.alreadyRevoked
        }
        return try records.listUnseenRenewals(of: certificate.serial).filter {
            try records.revoke(serial: $0, at: transaction.now, reason: reason.rawValue)
        }
    }

    /// Revokes whatever the holder of a certificate's key may have; the serials of the others.
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

/// Notifies the providers of the users who have a session on a device that a certificate of it was revoked: of the first
/// users with the revocation, of the others by a task of maintenance.
struct NotifyOfRevocation {
    private let device: DeviceID
    private let holders: [(user: UserID, provider: ProviderID)]
    private let transaction: any Transaction

    /// Users of whom the transaction of the revocation writes.
    static let atOnce = 100

    /// Reads who has a session: before the revocation ends it.
    init(_ device: DeviceID, in transaction: any Transaction) throws {
        self.device = device
        self.transaction = transaction
        holders = try SessionRepository(transaction).users(on: device, limit: Self.atOnce)
    }

    /// Keeps the users who are not read yet for later: before their sessions end.
    func keep(_ serials: [String]) throws {
        guard holders.count == Self.atOnce, let last = holders.last else { return }
        for serial in serials {
            try CertificateNoticeRepository(transaction).add(serial, on: device, after: last.user)
        }
    }

    /// Records the events of the users who were read.
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
    /// connection ends with its answer.
    ///
    /// - Throws: `Refusal` `conflict` where it is revoked already.
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
