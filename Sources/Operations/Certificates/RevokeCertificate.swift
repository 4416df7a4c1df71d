import Authority
import Database
import Domain
import Foundation
import Repositories
import Synchronization

/// Ends a certificate before its time: by its device or by an admin. It counts no more from the commit on here, within
/// a second everywhere.
package struct RevokeCertificate: Sendable {
    private let store: any Database
    private let watch: CacheInvalidator?
    private let environment: Environment

    /// Revokes in a store.
    ///
    /// - Parameter watch: keeps this process's memory, where it has one.
    package init(store: any Database, watch: CacheInvalidator?, environment: Environment) {
        self.store = store
        self.watch = watch
        self.environment = environment
    }

    /// The device gives up its own certificate; its sessions end.
    package func own(of connection: ClientConnection) async throws {
        guard let certificate = connection.certificate?.certificate else { return }
        connection.endsWithItsAnswer.store(true, ordering: .relaxed)
        try await revoke(
            serial: certificate.serial, reason: .cessationOfOperation, actor: "device \(certificate.deviceID)")
    }

    /// Revokes by serial number. Where the key is in other hands, the certificates of that key and all that were renewed
    /// from one of them are revoked with it, also if it was superseded long ago: whoever holds the key of a superseded
    /// certificate may be who had the present one made.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` where it is revoked already.
    @discardableResult
    package func revoke(serial: String, reason: RevocationReason, actor: String) async throws -> DeviceCertificate {
        let auditID = environment.newUUID()
        let certificate = try await store.transaction { transaction -> DeviceCertificate in
            let records = CertificateRepository(transaction)
            guard let certificate = try records.find(serial: serial) else {
                throw Refusal(.notFound, "There is no certificate with the serial number \(serial).")
            }
            let others =
                try reason.isCompromise
                ? compromise(certificate, reason, in: transaction) : withdraw(certificate, reason, in: transaction)
            for other in others {
                try AuditRepository(transaction).append(
                    .certificateRevoked, subject: "certificate \(other)", actor: actor, detail: "with \(serial)",
                    reason: AuditReason(reason.rawValue), id: environment.newUUID())
            }
            let remaining = try records.list(deviceID: certificate.deviceID).contains { $0.revoked == nil }
            if !remaining {
                try SessionRepository(transaction).end(
                    .device(certificate.deviceID), at: transaction.now, reason: "certificate revoked")
            }
            try AuditRepository(transaction).append(
                .certificateRevoked, subject: "certificate \(serial)", actor: actor,
                reason: AuditReason(reason.rawValue), id: auditID)
            try ChangeLog(transaction).announce(.device(certificate.deviceID))
            return certificate
        }
        try await watch?.apply(.device(certificate.deviceID))
        return certificate
    }

    /// Revokes a certificate that counts, with the renewal that was made of it and not shown yet; the serial of that.
    private func withdraw(
        _ certificate: DeviceCertificate, _ reason: RevocationReason, in transaction: any Transaction
    ) throws -> [String] {
        let records = CertificateRepository(transaction)
        guard try records.revoke(serial: certificate.serial, at: transaction.now, reason: reason.rawValue) else {
            throw Refusal(.conflict, "The certificate is revoked already.", state: "revoked")
        }
        return try records.listUnseenRenewals(of: certificate.serial).filter {
            try records.revoke(serial: $0, at: transaction.now, reason: reason.rawValue)
        }
    }

    /// Revokes whatever the holder of a certificate's key may have; the serials of the others.
    private func compromise(
        _ certificate: DeviceCertificate, _ reason: RevocationReason, in transaction: any Transaction
    ) throws -> [String] {
        let records = CertificateRepository(transaction)
        let lost = CertificateLineage(try records.list(deviceID: certificate.deviceID)).compromised(
            by: certificate.serial)
        let revoked = try lost.map(\.serial).filter {
            try records.compromise(serial: $0, at: transaction.now, reason: reason.rawValue)
        }
        guard !revoked.isEmpty else {
            throw Refusal(.conflict, "The certificate is revoked already.", state: "revoked")
        }
        return revoked.filter { $0 != certificate.serial }
    }
}
