import Authority
import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service {
    /// Renews the certificate of a connection: same device, same or new key. The old certificate is superseded at the
    /// first use of the new one.
    ///
    /// - Parameter csr: contains a new key; `nil` keeps the present key.
    /// - Throws: `Refusal` `conflict` before two thirds of the lifetime, `invalid_csr`, `rate_limited`, `unavailable`.
    func renewCertificate(csr: String?, on connection: ClientConnection) async throws -> CertifiedDevice {
        guard let present = connection.certificate?.certificate else {
            throw Refusal.connectionWithoutCertificate
        }
        guard environment.now() >= present.renewAfter else {
            throw Refusal.renewalNotDue(until: present.renewAfter)
        }
        let key: DevicePublicKey
        if let csr {
            key = try RequestedCertificate(csr).key
        } else {
            let bytes = try await read {
                try CertificateRepository($0).subjectPublicKeyInfo(serial: present.serial)
            }
            key = try DevicePublicKey(subjectPublicKeyInfo: bytes ?? [])
        }
        let issued = try signCertificate(key, deviceID: present.deviceID, replaces: present.serial)
        let perDay = rateLimiting == .on ? policy[\.certification].renewalsPerDay : nil
        try await write { transaction, events in
            let records = CertificateRepository(transaction)
            guard let now = try records.find(serial: present.serial), now.revoked == nil else {
                throw Refusal.certificateRevokedOrSuperseded
            }
            try RefuseBanned.requireUnbanned(present.deviceID, in: transaction)
            try requireUnusedKey(key, by: present.deviceID, in: transaction)
            // Only issued certificates are counted. A device whose requests are refused has gained nothing.
            if let perDay {
                try RateRepository(transaction).countExactly(
                    "renewal \(present.deviceID)", limit: RateLimit(count: perDay, per: 86_400))
            }
            // A renewal whose response was lost is never used. It must not remain a second valid certificate, nor
            // appear on a list.
            try records.unadmitRenewals(of: present.serial, at: transaction.now)
            try recordCertificate(issued, subjectPublicKeyInfo: key.subjectPublicKeyInfo, in: transaction, &events)
        }
        return issued
    }
}
