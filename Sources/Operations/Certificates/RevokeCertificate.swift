import Authority
import Database
import Domain
import Foundation
import Repositories

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
