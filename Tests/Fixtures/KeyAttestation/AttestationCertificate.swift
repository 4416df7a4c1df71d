import Foundation
import SwiftASN1
import X509

/// Certificates of the makers of devices, as tests need them.
package enum AttestationCertificate {
    /// A certificate in DER.
    package static func make(
        _ subject: DistinguishedName, by issuer: DistinguishedName, key: Certificate.PublicKey,
        with signing: Certificate.PrivateKey, serial: [UInt8] = TestAuthority.serial(), from: Date, until: Date,
        isAuthority: Bool = false, pathLength: Int? = nil, usage: KeyUsage? = nil,
        _ extensions: [Certificate.Extension] = []
    ) throws -> [UInt8] {
        let constraints: BasicConstraints =
            isAuthority ? .isCertificateAuthority(maxPathLength: pathLength) : .notCertificateAuthority
        let usage = usage ?? KeyUsage(digitalSignature: !isAuthority, keyCertSign: isAuthority)
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

    /// The name of an authority that was put into devices in the factory.
    package static func factoryName(title: String = "TEE") -> DistinguishedName {
        func attribute(_ type: ASN1ObjectIdentifier, _ text: String) -> RelativeDistinguishedName {
            RelativeDistinguishedName(RelativeDistinguishedName.Attribute(type: type, value: .init(utf8String: text)))
        }
        return DistinguishedName([attribute([2, 5, 4, 5], "c6047571d8f0d17c"), attribute([2, 5, 4, 12], title)])
    }

    /// A critical extension that no verifier knows.
    package static let unknown = Certificate.Extension(oid: [1, 2, 3, 4], critical: true, value: [5, 0])

    /// Critical constraints on names (RFC 5280 §4.2.1.10) that permit `other.example` alone.
    package static let nameConstraints = Certificate.Extension(
        oid: .X509ExtensionID.nameConstraints, critical: true,
        value: ([0x30, 0x13, 0xA0, 0x11, 0x30, 0x0F, 0x82, 0x0D] + Array("other.example".utf8))[...])

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
