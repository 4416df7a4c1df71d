import Foundation
import SwiftASN1
import X509

/// Certificates of the makers of devices, as tests need them.
package enum AttestationCertificate {
    /// A certificate in DER.
    package static func make(
        _ subject: DistinguishedName, by issuer: DistinguishedName, key: Certificate.PublicKey,
        with signing: Certificate.PrivateKey, serial: [UInt8] = TestAuthority.serial(), from: Date, until: Date,
        isAuthority: Bool = false, _ extensions: [Certificate.Extension] = []
    ) throws -> [UInt8] {
        let constraints: BasicConstraints =
            isAuthority ? .isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority
        let usage = KeyUsage(digitalSignature: !isAuthority, keyCertSign: isAuthority)
        let common = [
            try Critical(constraints).makeCertificateExtension(), try Critical(usage).makeCertificateExtension(),
        ]
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(bytes: serial), publicKey: key, notValidBefore: from,
            notValidAfter: until, issuer: issuer, subject: subject,
            extensions: Certificate.Extensions(common + extensions), issuerPrivateKey: signing)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    /// - Parameter organization: `Google LLC` in chains of keys that were provisioned remotely.
    package static func name(_ commonName: String, organization: String = "Example") -> DistinguishedName {
        // The builder's errors are those of texts that are not printable.
        let name = try? DistinguishedName {
            OrganizationName(organization)
            CommonName(commonName)
        }
        return name ?? DistinguishedName()
    }
}
