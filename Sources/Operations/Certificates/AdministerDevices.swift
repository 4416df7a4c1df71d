import Authority
import Database
import Domain
import Foundation
import Repositories

/// What admins see of devices, and do to them, from the command line.
package struct AdministerDevices: Sendable {
    private let store: any Database
    private let environment: Environment
    private let actor: String

    /// Works on a store in an admin's name.
    package init(store: any Database, environment: Environment, actor: String) {
        self.store = store
        self.environment = environment
        self.actor = actor
    }

    /// The newest devices, with how many certificates and sessions each has.
    package func list(limit: Int) async throws -> [DeviceRepository.Line] {
        try await store.snapshot { try DeviceRepository($0).list(limit: limit) }
    }

    /// Takes everything from a device: each of its certificates is revoked, its sessions end. It must certify anew, with
    /// another key.
    ///
    /// - Returns: the serial numbers, and how many sessions ended.
    /// - Throws: `Refusal` `not_found`, or `conflict` where it has no certificate that counts.
    package func revoke(
        _ id: DeviceID, reason: RevocationReason
    ) async throws -> (serials: [String], sessionsEnded: Int) {
        try await store.transaction { transaction in
            let records = CertificateRepository(transaction)
            let certificates = try records.list(deviceID: id)
            guard !certificates.isEmpty else { throw Refusal(.notFound, "There is no device \(id).") }
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
                try AuditRepository(transaction).append(
                    .certificateRevoked, subject: "certificate \(certificate.serial)", actor: actor,
                    detail: "device \(id)", reason: AuditReason(reason.rawValue), id: environment.newUUID())
            }
            let ended = try SessionRepository(transaction).end(
                .device(id), at: transaction.now, reason: "device revoked")
            try ChangeLog(transaction).announce(.device(id))
            return (revoked.map(\.serial), ended)
        }
    }
}
