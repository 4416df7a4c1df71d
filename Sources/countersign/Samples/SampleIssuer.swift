import Authority
import Crypto
import Encoding
import Foundation
import SwiftASN1
import X509

/// An invented issuer of mobile driving licences, and an invented scheme of wallets, for development. Their certificates
/// have the profile of real ones, so the service verifies them by the same rules.
struct SampleIssuer {
    /// The key that signs documents.
    let key: P256.Signing.PrivateKey
    /// The signer's certificate in DER.
    let certificate: [UInt8]

    private static let keyName = "sample-issuer.key"
    private static let certificateName = "sample-issuer.pem"

    /// Reads what ``create(in:now:)`` made.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    init(in directory: String) throws(CommandFailure) {
        let keyFile = KeyFile(path: "\(directory)/\(Self.keyName)", isPrivate: true)
        let file = KeyFile(path: "\(directory)/\(Self.certificateName)", isPrivate: false)
        guard keyFile.exists, file.exists else {
            throw CommandFailure(
                "\(keyFile.path) or \(file.path) is missing. Make both with `countersign sample wallet issuer`.")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: try keyFile.read()),
            let document = try? PEM(try file.read())
        else { throw CommandFailure("\(keyFile.path) and \(file.path) are not a P-256 key and a certificate in PEM.") }
        self.key = key
        certificate = document.bytes
    }

    /// What each of the files of ``create(in:now:)`` is for, in their order.
    static let meanings = [
        "the invented issuer, which the service trusts", "the key that signs invented documents",
        "the certificate of that key, by the issuer", "the service's key for requests to wallets",
        "the certificate of that key, by an invented scheme of wallets",
    ]

    private static let issuerName = "Sample issuer"

    /// Whether an issuer was made by ``create(in:now:)``, whatever the name of its file.
    static func isSample(_ anchor: IssuerTrust.Anchor) -> Bool { anchor.name.hasSameBytes(as: issuerName) }

    /// Makes an issuer that the service trusts, and a certificate of the service for wallets. No file is replaced.
    ///
    /// - Returns: the paths of the files.
    static func create(in directory: String, now: Date) throws -> [String] {
        let issuers = "\(directory)/\(IssuerFiles.name)"
        try FileManager.default.createDirectory(atPath: issuers, withIntermediateDirectories: true)
        let (root, scheme) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let (signer, reader) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let (issuer, wallets) = (try name(issuerName), try name("Sample wallets"))
        let authority = try Certificate.Extensions {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        }
        let certified: [(file: String, text: String, isPrivate: Bool)] = [
            (
                "\(issuers)/sample.pem",
                PEM.encode(
                    try sign(issuer, root.publicKey, by: issuer, root, now: now, authority), label: "CERTIFICATE"),
                false
            ),
            ("\(directory)/\(keyName)", signer.pemRepresentation + "\n", true),
            (
                "\(directory)/\(certificateName)",
                PEM.encode(
                    try sign(
                        name("Sample signer"), signer.publicKey, by: issuer, root, now: now,
                        purpose([1, 0, 18013, 5, 1, 2])), label: "CERTIFICATE"),
                false
            ),
            ("\(directory)/wallet.key", reader.pemRepresentation + "\n", true),
            (
                "\(directory)/wallet.pem",
                PEM.encode(
                    try sign(
                        name("Sample service"), reader.publicKey, by: wallets, scheme, now: now,
                        purpose([1, 0, 18013, 5, 1, 6])), label: "CERTIFICATE"),
                false
            ),
        ]
        for (path, text, isPrivate) in certified { try KeyFile(path: path, isPrivate: isPrivate).create(text) }
        return certified.map(\.file)
    }

    private static func name(_ commonName: String) throws -> DistinguishedName {
        try DistinguishedName {
            CountryName("US")
            StateOrProvinceName("US-VA")
            CommonName(commonName)
        }
    }

    private static func purpose(_ identifier: ASN1ObjectIdentifier) throws -> Certificate.Extensions {
        try Certificate.Extensions {
            Critical(KeyUsage(digitalSignature: true))
            Critical(try ExtendedKeyUsage([ExtendedKeyUsage.Usage(oid: identifier)]))
        }
    }

    private static func sign(
        _ subject: DistinguishedName, _ key: P256.Signing.PublicKey, by issuer: DistinguishedName,
        _ signing: P256.Signing.PrivateKey, now: Date, _ extensions: Certificate.Extensions
    ) throws -> [UInt8] {
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key),
            notValidBefore: now - 86_400, notValidAfter: now + 400 * 86_400, issuer: issuer, subject: subject,
            extensions: extensions, issuerPrivateKey: .init(signing))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
