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
    /// - Parameters:
    ///   - csr: contains a new key; `nil` keeps the present key.
    ///   - evidence: proves where the new key is. A new key of a device that attested the present one needs it, if the gate
    ///     is `attested`.
    /// - Throws: `Refusal` `conflict` before two thirds of the lifetime, `invalid_csr`, `rate_limited`, `unavailable`.
    func renewCertificate(
        csr: String?, evidence: AttestationEvidence? = nil, on connection: ClientConnection
    ) async throws -> CertifiedDevice {
        guard let present = connection.certificate?.certificate else {
            throw Refusal.connectionWithoutCertificate
        }
        guard environment.now() >= present.renewAfter else {
            throw Refusal.renewalNotDue(until: present.renewAfter)
        }
        let key: DevicePublicKey
        var attestation: VerifiedAttestation?
        if let csr {
            let request = try RequestedCertificate(csr)
            key = request.key
            if let evidence {
                attestation = try await verifyAttestation(evidence, for: request, renewing: present.deviceID)
            }
        } else {
            guard evidence == nil else { throw Refusal.attestationWithoutRequest }
            let bytes = try await read {
                try CertificateRepository($0).subjectPublicKeyInfo(serial: present.serial)
            }
            key = try DevicePublicKey(subjectPublicKeyInfo: bytes ?? [])
        }
        let isKept = Digest256(key.keyHash) == present.keyHash
        let signed = try signCertificate(
            key, deviceID: present.deviceID, replaces: present.serial,
            attestation: try mark(attestation, isKept: isKept, of: present))
        let perDay = rateLimiting == .on ? policy[\.certification].renewalsPerDay : nil
        return try await write { [attestation] transaction, events in
            let records = CertificateRepository(transaction)
            guard let stored = try records.find(serial: present.serial), stored.revoked == nil else {
                throw Refusal.certificateRevokedOrSuperseded
            }
            // Another node may have distrusted the device after this one cached the certificate.
            let issued = signed.marked(try mark(attestation, isKept: isKept, of: stored))
            try RefuseBanned.requireUnbanned(present.deviceID, in: transaction)
            try requireUnusedKey(key, by: present.deviceID, in: transaction)
            if let attestation { try record(attestation, of: present.deviceID, in: transaction) }
            // Only issued certificates are counted. A device whose requests are refused has gained nothing.
            if let perDay {
                try RateRepository(transaction).countExactly(
                    "renewal \(present.deviceID)", limit: RateLimit(count: perDay, per: 86_400))
            }
            // A renewal whose response was lost is never used. It must not remain a second valid certificate, nor
            // appear on a list.
            try records.unadmitRenewals(of: present.serial, at: transaction.now)
            try recordCertificate(issued, subjectPublicKeyInfo: key.subjectPublicKeyInfo, in: transaction, &events)
            return issued
        }
    }
}

extension Service {
    /// The mark of a renewed certificate, which is that of its key.
    ///
    /// - Parameters:
    ///   - isKept: whether the key is that of the present certificate.
    ///   - present: the present certificate, as it is cached or stored.
    /// - Throws: `Refusal` `invalid_csr` if the gate is `attested`, and the new key would lose the mark.
    private func mark(
        _ attestation: VerifiedAttestation?, isKept: Bool, of present: DeviceCertificate
    ) throws(Refusal) -> DeviceAttestation.Level {
        let level = attestation?.level ?? (isKept ? present.attestation : .unattested)
        if policy[\.certification].gate == .attested, present.attestation != .unattested, level == .unattested {
            throw Refusal.attestationRequired
        }
        return level
    }
}
