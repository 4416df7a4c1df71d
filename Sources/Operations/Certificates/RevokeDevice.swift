import Authority
import Database
import Domain
import Foundation
import Repositories

package extension Administration {
    /// The certificates that a revocation of a device revokes, the sessions that it ends, and the number of their users,
    /// counted up to 1,001.
    typealias DeviceRevocation = (serials: [String], sessionsEnded: CountedSessions, users: Int)

    /// What ``revokeDevice(_:reason:upTo:)`` would revoke and end.
    ///
    /// - Throws: `Refusal` `not_found`.
    func previewRevocation(of id: DeviceID) async throws -> DeviceRevocation {
        try await read(.manage) { transaction in
            let certificates = try CertificateRepository(transaction).list(deviceID: id)
            let sessions = try CountedSessions(behind: .device(id), in: transaction)
            let users = try Self.countUsers(on: id, in: transaction)
            guard !certificates.isEmpty else { throw Refusal.unknownDevice(id) }
            let present = certificates.filter { $0.revoked == nil }
            return (present.map(\.serial), sessions, users)
        }
    }

    private static func countUsers(on device: DeviceID, in transaction: any Transaction) throws -> Int {
        try SessionRepository(transaction).users(on: device, limit: CountedSessions.limit + 1).count
    }

    /// Revokes every certificate of a device and ends its sessions. The device must be certified again, with another
    /// key.
    ///
    /// - Parameter limit: the maximum number of users affected that the admin confirmed; `nil` for any number.
    /// - Throws: `Refusal` `not_found`, or `conflict` if it has no valid certificate or more users.
    func revokeDevice(
        _ id: DeviceID, reason: RevocationReason, upTo limit: Int? = nil
    ) async throws -> DeviceRevocation {
        return try await write(.manage) { transaction, events in
            let records = CertificateRepository(transaction)
            let certificates = try records.list(deviceID: id)
            guard !certificates.isEmpty else { throw Refusal.unknownDevice(id) }
            let users = try Self.countUsers(on: id, in: transaction)
            if let limit, users > limit { throw Refusal.moreUsers(users) }
            let notify = try NotifyOfRevocation(id, in: transaction)
            let count = try CountedSessions(behind: .device(id), in: transaction)
            // A superseded certificate is listed if its key was compromised.
            let revoked = try certificates.filter { certificate in
                let (serial, now) = (certificate.serial, transaction.now)
                return try reason.isCompromise
                    ? records.compromise(serial: serial, at: now, reason: reason.rawValue)
                    : records.revoke(serial: serial, at: now, reason: reason.rawValue)
            }
            guard !revoked.isEmpty else {
                throw Refusal.deviceAlreadyRevoked
            }
            for certificate in revoked {
                events.record(
                    .certificateRevoked(certificate.serial, id, detail: "device \(id)"), by: actor,
                    because: AuditReason(reason.rawValue))
            }
            let serials = revoked.map(\.serial)
            try notify.keep(serials)
            try RevokeSessions(transaction: transaction)(.device(id), .deviceRevoked, &events)
            notify(serials, &events)
            return (serials, count, users)
        }
    }

    /// Revokes one certificate by its serial number, within a second on every node. If the key was compromised, all
    /// certificates that its thief may have are revoked.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if it is already revoked.
    func revokeCertificate(serial: String, reason: RevocationReason) async throws {
        try await write(.manage) { transaction, events in
            try RevokeCertificate(reason: reason, actor: actor, transaction: transaction)(serial: serial, &events)
        }
    }
}
