import Authority
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// The certificate and its chain, as the device gets them.
package struct CertifiedDevice: Sendable {
    package let certificatePEM: String
    /// The authority's certificates, issuer of the device's certificate first.
    package let chainPEM: [String]
    package private(set) var certificate: DeviceCertificate
    /// The digest of the issuing authority's key.
    let authority: Digest256
    /// Whether it was recently issued for a repetition of the request.
    package var isRepeated = false

    /// With another mark, which only the issuance table contains.
    func marked(_ level: DeviceAttestation.Level) -> CertifiedDevice {
        var marked = self
        marked.certificate.attestation = level
        return marked
    }
}

/// Both forms of a certification request as one value: a key whose possession was proved, and two wishes.
struct RequestedCertificate: Sendable {
    let key: DevicePublicKey
    let wishedDeviceID: DeviceID?
    let userAgent: String?

    init(_ csr: String) throws(Refusal) {
        if csr.contains("-----BEGIN") || !csr.contains(".") {
            let request = try CertificationRequest.parse(pkcs10: csr)
            (key, wishedDeviceID, userAgent) = (request.publicKey, request.wishedDeviceID, nil)
        } else {
            let request = try LayerCSR(csr)
            key = try DevicePublicKey(request.publicKey)
            wishedDeviceID = request.wishedDeviceID.flatMap { DeviceID($0[...]) }
            userAgent = request.userAgent
        }
    }
}

/// Common to first certification and renewal: the key's history, the signature, the issuance table.
extension Service {
    /// The certificates of all trusted authorities as PEM, those of the current one first.
    package var authorityCertificates: [String] { ([keys.authority] + keys.otherAuthorities).flatMap(\.chainPEM) }

    /// The certificates of the authority that issued a certificate, as PEM, the issuer first.
    func chain(of authority: Digest256) -> [String] {
        (keys.otherAuthorities.first { $0.id == authority } ?? keys.authority).chainPEM
    }

    /// Refuses a key that another certificate has or had. A device may use its own key again. A key whose certificate
    /// was never used is free for every device.
    func requireUnusedKey(_ key: DevicePublicKey, by device: DeviceID? = nil, in transaction: any Transaction) throws {
        guard let hash = Digest256(key.keyHash) else { return }
        try requireUnbanned(.deviceKey(hash), in: transaction)
        if try CertificateUpkeep(transaction).isRevoked(hash) { throw Refusal.keyRevoked }
        for certificate in try CertificateRepository(transaction).list(keyHash: hash) where !certificate.isUnadmitted {
            if let revoked = certificate.revoked, revoked.reason != RevocationReason.superseded.rawValue {
                throw Refusal.keyRevoked
            }
            guard certificate.deviceID == device else {
                throw Refusal.keyCertified
            }
        }
    }

    /// Refuses a device name or key of a banned device, as if it were revoked.
    func requireUnbanned(_ subject: BanEntry.Subject, in transaction: any Transaction) throws {
        let entries = try BanRepository(transaction).entries(on: [subject])
        guard BanEntry.activeBan(among: entries, for: .all, at: transaction.now) == nil else {
            throw Refusal.keyBanned
        }
    }

    /// Signs a certificate, which is valid only after it was recorded.
    func signCertificate(
        _ key: DevicePublicKey, deviceID: DeviceID, replaces: String?, attestation: DeviceAttestation.Level
    ) throws -> CertifiedDevice {
        let rules = policy[\.certification]
        let now = environment.now()
        let issued: IssuedCertificate
        do {
            issued = try keys.authority.issue(
                key, deviceID: deviceID, serial: environment.randomBytes(16), now: now,
                validity: Int(rules.validity),
                revocationListURL: "\(urls.issuer)/certificates/revocations?authority=\(keys.authority.id.base64URL)",
                policyOID: rules.policyOID.isEmpty ? nil : rules.policyOID)
        } catch {
            throw Refusal.authorityUnavailable(ErrorWords.of(error))
        }
        guard let thumbprint = Digest256(issued.thumbprint), let keyHash = Digest256(issued.keyHash) else {
            throw Refusal.authorityUnavailable()
        }
        let certificate = DeviceCertificate(
            serial: issued.serial, thumbprint: thumbprint, deviceID: deviceID, keyHash: keyHash,
            notBefore: issued.notBefore, notAfter: issued.notAfter, issuedAt: now, replaces: replaces,
            attestation: attestation, firstSeenAt: nil, revoked: nil)
        return CertifiedDevice(
            certificatePEM: issued.pem, chainPEM: keys.authority.chainPEM, certificate: certificate,
            authority: keys.authority.id)
    }

    /// Writes an issued certificate into the issuance table and the audit log.
    func recordCertificate(
        _ issued: CertifiedDevice, subjectPublicKeyInfo: [UInt8], in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws {
        try CertificateRepository(transaction).insert(
            issued.certificate, subjectPublicKeyInfo: subjectPublicKeyInfo, authority: issued.authority)
        events.record(
            .certificateIssued(serial: issued.certificate.serial, issued.certificate.attestation),
            by: "device \(issued.certificate.deviceID)")
    }
}
