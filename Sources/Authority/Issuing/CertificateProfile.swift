import Crypto
import Foundation
import SwiftASN1
import X509

/// The extensions of the certificates that the authority signs (RFC 5280 §4.2). Constant ones are encoded once.
struct CertificateProfile: Sendable {
    private let authorityKeyIdentifier: Certificate.Extension
    private let notAuthority: Certificate.Extension
    private let digitalSignature: Certificate.Extension
    private let clientAuthentication: Certificate.Extension
    private let serverAuthentication: Certificate.Extension

    init(authorityKeyIdentifier identifier: ArraySlice<UInt8>) throws {
        authorityKeyIdentifier = try AuthorityKeyIdentifier(keyIdentifier: identifier).makeCertificateExtension()
        notAuthority = try Critical(BasicConstraints.notCertificateAuthority).makeCertificateExtension()
        digitalSignature = try Critical(KeyUsage(digitalSignature: true)).makeCertificateExtension()
        clientAuthentication = try ExtendedKeyUsage([.clientAuth]).makeCertificateExtension()
        serverAuthentication = try ExtendedKeyUsage([.serverAuth]).makeCertificateExtension()
    }

    /// A device's certificate. It names a certificate policy only if the operator has one.
    func device(
        key: Certificate.PublicKey, revocationListURL: String, policyOID: String?
    ) throws -> Certificate.Extensions {
        var extensions = [
            authorityKeyIdentifier,
            try Self.subjectKeyIdentifier(of: key).makeCertificateExtension(),
            digitalSignature,
            notAuthority,
            clientAuthentication,
            try Self.distributionPoint(revocationListURL),
        ]
        if let policyOID { extensions.append(try Self.policy(policyOID)) }
        return try Certificate.Extensions(extensions)
    }

    /// An administrator's certificate. It names no revocation list, because only the store decides whether it is valid.
    func administrator(key: Certificate.PublicKey) throws -> Certificate.Extensions {
        try Certificate.Extensions([
            authorityKeyIdentifier,
            try Self.subjectKeyIdentifier(of: key).makeCertificateExtension(),
            digitalSignature,
            notAuthority,
            clientAuthentication,
        ])
    }

    /// The certificate of one of the service's own listeners.
    func server(key: Certificate.PublicKey, names: [GeneralName]) throws -> Certificate.Extensions {
        try Certificate.Extensions([
            authorityKeyIdentifier,
            try Self.subjectKeyIdentifier(of: key).makeCertificateExtension(),
            digitalSignature,
            notAuthority,
            serverAuthentication,
            try SubjectAlternativeNames(names).makeCertificateExtension(),
        ])
    }

    /// A self-signed authority that signs leaves only.
    static func root(key: Certificate.PublicKey) throws -> Certificate.Extensions {
        try Certificate.Extensions([
            try subjectKeyIdentifier(of: key).makeCertificateExtension(),
            try Critical(KeyUsage(keyCertSign: true, cRLSign: true)).makeCertificateExtension(),
            try Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0)).makeCertificateExtension(),
        ])
    }

    /// RFC 7093 §2, method 1: the first 160 bits of SHA-256 of the key.
    static func subjectKeyIdentifier(of key: Certificate.PublicKey) -> SubjectKeyIdentifier {
        SubjectKeyIdentifier(keyIdentifier: ArraySlice(SHA256.hash(data: key.subjectPublicKeyInfoBytes).prefix(20)))
    }

    /// RFC 5280 §4.2.1.13: one distribution point with one URI, `{ { [0] { [0] { [6] uri } } } }`.
    private static func distributionPoint(_ url: String) throws -> Certificate.Extension {
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw AuthorityError.invalidName(url) }
        let first = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.appendConstructedNode(identifier: first) { coder in
                    try coder.appendConstructedNode(identifier: first) { coder in
                        try coder.serialize(GeneralName.uniformResourceIdentifier(url))
                    }
                }
            }
        }
        return Certificate.Extension(oid: [2, 5, 29, 31], critical: false, value: serializer.serializedBytes[...])
    }

    /// RFC 5280 §4.2.1.4: one policy without qualifiers.
    private static func policy(_ text: String) throws -> Certificate.Extension {
        guard let identifier = try? ASN1ObjectIdentifier(dotRepresentation: text) else {
            throw AuthorityError.invalidName(text)
        }
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { coder in
            try coder.appendConstructedNode(identifier: .sequence) { try $0.serialize(identifier) }
        }
        return Certificate.Extension(oid: [2, 5, 29, 32], critical: false, value: serializer.serializedBytes[...])
    }
}
