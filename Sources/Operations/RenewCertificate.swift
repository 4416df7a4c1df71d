import Authority
import Database
import Foundation
import Identity
import Records

/// Renews the certificate of a connection: same device, same or new key. The old one is superseded when the new one is
/// first seen.
public struct RenewCertificate: Sendable {
    private let store: any Database
    private let issuing: IssueCertificate
    private let surroundings: Surroundings

    /// Renews into a store.
    public init(store: any Database, issuing: IssueCertificate, surroundings: Surroundings) {
        self.store = store
        self.issuing = issuing
        self.surroundings = surroundings
    }

    /// Renews.
    ///
    /// - Parameter csr: carries a new key; `nil` keeps the present one.
    /// - Throws: ``Refusal`` `conflict` before two thirds of the life, `invalid_csr`, `unavailable`.
    public func callAsFunction(csr: String?, on connection: ClientConnection) async throws -> CertifiedDevice {
        guard let present = connection.certificate?.certificate else {
            throw Refusal(.certificateRevoked, "Connect again.")
        }
        guard surroundings.now() >= present.renewAfter else {
            throw Refusal(
                .conflict, "The certificate can be renewed from \(present.renewAfter.rfc3339) on.", state: "not_due")
        }
        let requested = try csr.map { try RequestedCertificate($0) }
        let key: DevicePublicKey
        if let requested {
            key = requested.key
        } else {
            let bytes = try await store.look { try CertificateRecords($0).subjectPublicKeyInfo(serial: present.serial) }
            key = try DevicePublicKey(subjectPublicKeyInfo: bytes ?? [])
        }
        let issued = try issuing.sign(key, deviceID: present.deviceID, replaces: present.serial)
        let auditID = surroundings.newUUID()
        try await store.decide { transaction in
            let records = CertificateRecords(transaction)
            guard let now = try records.find(serial: present.serial), now.revoked == nil else {
                throw Refusal(.certificateRevoked, "This certificate was revoked or superseded.")
            }
            try RefuseBanned.requireUnbanned(present.deviceID, in: transaction)
            try issuing.requireUnusedKey(key, by: present.deviceID, in: transaction)
            // A renewal whose answer was lost is never shown: it must not lie about as a second way in.
            for serial in try records.listUnseenRenewals(of: present.serial) {
                _ = try records.revoke(
                    serial: serial, at: transaction.now, reason: RevocationReason.superseded.rawValue)
            }
            try issuing.record(
                issued, subjectPublicKeyInfo: key.subjectPublicKeyInfo, actor: "device \(present.deviceID)",
                auditID: auditID, in: transaction)
        }
        return issued
    }
}
