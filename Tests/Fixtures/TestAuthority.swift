import Authority
import Crypto
import Domain
import Foundation
import SwiftASN1
import X509

/// An authority for tests: a fresh root with its key in memory.
package struct TestAuthority: Sendable {
    package let authority: CertificateAuthority
    /// Its key as it would stand in `ca.key`.
    package let keyPEM: String
    /// The time at which it issues where nothing else is said.
    package let now: Date

    /// Where its leaves say that the revocation list is.
    package static let revocationListURL = "http://countersign.example.com/certificates/revocations"
    /// The policy that its leaves name.
    package static let policyOID = "1.3.6.1.4.1.59999.1.1"
    package static let referenceTime = Date(timeIntervalSince1970: 1_800_000_000)

    package init(now: Date = TestAuthority.referenceTime) throws {
        let (key, pem) = try SigningKey.generate()
        authority = try CertificateAuthority.createRoot(
            commonName: "Countersign Test CA", signingKey: key, serial: Self.serial(), now: now)
        keyPEM = pem.reveal()
        self.now = now
    }

    /// The authority's certificate in PEM.
    package var certificatePEM: String { authority.chainPEM.joined() }

    /// 16 random bytes.
    package static func serial() -> [UInt8] {
        (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    }

    /// Certifies a key of a device.
    package func certify(
        _ key: DevicePublicKey, deviceID: DeviceID = DeviceID(UUID()), serial: [UInt8] = TestAuthority.serial(),
        now: Date? = nil, validity: Int = 365 * 86_400, policyOID: String? = TestAuthority.policyOID
    ) throws -> IssuedCertificate {
        try authority.issue(
            key, deviceID: deviceID, serial: serial, now: now ?? self.now, validity: validity,
            revocationListURL: Self.revocationListURL, policyOID: policyOID)
    }

    /// Makes a device: a P-256 key and the certificate over it.
    package func device(
        _ deviceID: DeviceID = DeviceID(UUID()), now: Date? = nil, validity: Int = 365 * 86_400
    ) throws -> TestDevice {
        let key = P256.Signing.PrivateKey()
        let publicKey = try DevicePublicKey(subjectPublicKeyInfo: Array(key.publicKey.derRepresentation))
        return TestDevice(
            deviceID: deviceID, certificate: try certify(publicKey, deviceID: deviceID, now: now, validity: validity),
            key: key)
    }

    /// Makes a PKCS#10 request in PEM, as a device would.
    package static func certificationRequest(
        commonName: String, key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()
    ) throws -> String {
        let request = try CertificateSigningRequest(
            version: .v1, subject: DistinguishedName { CommonName(commonName) },
            privateKey: Certificate.PrivateKey(key), attributes: CertificateSigningRequest.Attributes())
        return try request.serializeAsPEM().pemString + "\n"
    }
}

/// A device with its key and certificate.
package struct TestDevice: Sendable {
    package let deviceID: DeviceID
    package let certificate: IssuedCertificate
    package let key: P256.Signing.PrivateKey

    /// The key in PKCS#8 PEM.
    package var keyPEM: String { key.pemRepresentation + "\n" }
}
