import Authority
import Database
import Domain
import Foundation
import Repositories

/// An admin takes everything from a device: each of its certificates is revoked, its sessions end. It must certify anew,
/// with another key.
package struct RevokeDevice: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// What would be revoked, and how many sessions would end.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func preview(_ id: DeviceID) async throws -> (serials: [String], sessionsEnded: CountedSessions) {
        try await context.store.snapshot { transaction in
            let certificates = try CertificateRepository(transaction).list(deviceID: id)
            guard !certificates.isEmpty else { throw Refusal(.notFound, "There is no device \(id).") }
            let present = certificates.filter { $0.revoked == nil }
            return (present.map(\.serial), try CountedSessions(behind: .device(id), in: transaction))
        }
    }

    /// Revokes.
    ///
    /// - Returns: the serial numbers, and how many sessions end.
    /// - Throws: `Refusal` `not_found`, or `conflict` where it has no valid certificate.
    package func callAsFunction(
        _ id: DeviceID, reason: RevocationReason
    ) async throws -> (serials: [String], sessionsEnded: CountedSessions) {
        let actor = context.actor
        return try await context.commit { transaction, events in
            let records = CertificateRepository(transaction)
            let certificates = try records.list(deviceID: id)
            guard !certificates.isEmpty else { throw Refusal(.notFound, "There is no device \(id).") }
            let notify = try NotifyOfRevocation(id, in: transaction)
            let count = try CountedSessions(behind: .device(id), in: transaction)
            // A superseded one of a key in other hands is listed for that.
            let revoked = try certificates.filter { certificate in
                let (serial, now) = (certificate.serial, transaction.now)
                return try reason.isCompromise
                    ? records.compromise(serial: serial, at: now, reason: reason.rawValue)
                    : records.revoke(serial: serial, at: now, reason: reason.rawValue)
            }
            guard !revoked.isEmpty else {
                throw Refusal(.conflict, "Every certificate of the device is revoked already.", state: "revoked")
            }
            for certificate in revoked {
                events.record(
                    .certificateRevoked(certificate.serial, id, detail: "device \(id)"), by: actor,
                    because: AuditReason(reason.rawValue))
            }
            let serials = revoked.map(\.serial)
            try notify.keep(serials)
            try CutSessions(transaction: transaction)(.device(id), .deviceRevoked, &events)
            notify(serials, &events)
            return (serials, count)
        }
    }
}
