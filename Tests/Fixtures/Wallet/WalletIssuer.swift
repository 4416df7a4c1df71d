import Crypto
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// An issuer of credentials for tests: an authority, and a signer that it certified.
package struct WalletIssuer: Sendable {
    package let rootKey = P256.Signing.PrivateKey()
    package let signerKey = P256.Signing.PrivateKey()
    /// The authority's certificate in DER.
    package let root: [UInt8]
    /// The signer's certificate in DER.
    package let certificate: [UInt8]
    package let now: Date

    package static let documentSigning: ASN1ObjectIdentifier = [1, 0, 18013, 5, 1, 2]

    package init(now: Date = TestAuthority.referenceTime) throws {
        self.now = now
        let name = Self.name("IACA")
        root = try Self.sign(
            name, by: name, key: .init(rootKey.publicKey), with: .init(rootKey), from: now - 86_400,
            until: now + 3_650 * 86_400, Self.authority())
        certificate = try Self.sign(
            Self.name("Signer"), by: name, key: .init(signerKey.publicKey), with: .init(rootKey), from: now - 86_400,
            until: now + 400 * 86_400, Self.signer())
    }

    /// A certificate that the authority signs, with a fault that the arguments make.
    package func certified(
        subject: DistinguishedName = name("Signer"), issuer: DistinguishedName = name("IACA"),
        key: Certificate.PublicKey? = nil, from: Date? = nil, until: Date? = nil,
        by signing: Certificate.PrivateKey? = nil, _ extensions: [Certificate.Extension]? = nil
    ) throws -> [UInt8] {
        try Self.sign(
            subject, by: issuer, key: key ?? .init(signerKey.publicKey), with: signing ?? .init(rootKey),
            from: from ?? now - 86_400, until: until ?? now + 400 * 86_400, extensions ?? Self.signer())
    }

    /// The certificate of another signer.
    package func certifiedOtherKey() throws -> [UInt8] {
        try certified(key: .init(P256.Signing.PrivateKey().publicKey))
    }

    /// The authority's certificate with a key identifier, which real ones have.
    package func root(named identifier: [UInt8]) throws -> [UInt8] {
        let identifier = SubjectKeyIdentifier(keyIdentifier: identifier[...])
        return try certified(
            subject: Self.name("IACA"), key: .init(rootKey.publicKey),
            Self.authority() + [try identifier.makeCertificateExtension()])
    }

    /// What a verifier learns from the signer's certificate.
    package func signer() throws -> CredentialSigner {
        CredentialSigner(
            key: try PublicKey(subjectPublicKeyInfo: Array(signerKey.publicKey.derRepresentation)), country: "US",
            jurisdiction: "US-VA", notBefore: now - 86_400, notAfter: now + 400 * 86_400,
            root: Array(SHA256.hash(data: root)))
    }

    package static func name(_ commonName: String) -> DistinguishedName {
        // The builder's errors are those of texts that are not printable.
        let name = try? DistinguishedName {
            CountryName("US")
            StateOrProvinceName("US-VA")
            CommonName(commonName)
        }
        return name ?? DistinguishedName()
    }

    package static func authority(
        _ constraints: BasicConstraints = .isCertificateAuthority(maxPathLength: 0),
        _ usage: KeyUsage = KeyUsage(keyCertSign: true, cRLSign: true)
    ) throws -> [Certificate.Extension] {
        try [Critical(constraints).makeCertificateExtension(), Critical(usage).makeCertificateExtension()]
    }

    package static func signer(
        _ usage: KeyUsage = KeyUsage(digitalSignature: true), purposes: [ASN1ObjectIdentifier] = [documentSigning],
        constraints: BasicConstraints? = nil, additional: Certificate.Extension? = nil
    ) throws -> [Certificate.Extension] {
        var extensions = [try Critical(usage).makeCertificateExtension()]
        if !purposes.isEmpty {
            let purposes = try ExtendedKeyUsage(purposes.map { ExtendedKeyUsage.Usage(oid: $0) })
            extensions.append(try Critical(purposes).makeCertificateExtension())
        }
        if let constraints { extensions.append(try Critical(constraints).makeCertificateExtension()) }
        return extensions + (additional.map { [$0] } ?? [])
    }

    private static func sign(
        _ subject: DistinguishedName, by issuer: DistinguishedName, key: Certificate.PublicKey,
        with signing: Certificate.PrivateKey, from: Date, until: Date, _ extensions: [Certificate.Extension]
    ) throws -> [UInt8] {
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(bytes: TestAuthority.serial()), publicKey: key,
            notValidBefore: from, notValidAfter: until, issuer: issuer, subject: subject,
            extensions: Certificate.Extensions(extensions), issuerPrivateKey: signing)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
