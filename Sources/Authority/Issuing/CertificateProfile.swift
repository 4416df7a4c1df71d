import Crypto
import Foundation
import SwiftASN1
import X509

/// The extensions of the certificates that the authority signs (RFC 5280 §4.2). Constant ones are encoded once.
struct CertificateProfile: Sendable {
    private let authorityKeyIdentifier: [UInt8]
    private let notAuthority: [UInt8]
    private let digitalSignature: [UInt8]
    private let clientAuthentication: [UInt8]
    private let serverAuthentication: [UInt8]

    init(authorityKeyIdentifier identifier: ArraySlice<UInt8>) throws {
        authorityKeyIdentifier = try Self.encoded(AuthorityKeyIdentifier(keyIdentifier: identifier))
        notAuthority = try Self.encoded(Critical(BasicConstraints.notCertificateAuthority))
        digitalSignature = try Self.encoded(Critical(KeyUsage(digitalSignature: true)))
        clientAuthentication = try Self.encoded(ExtendedKeyUsage([.clientAuth]))
        serverAuthentication = try Self.encoded(ExtendedKeyUsage([.serverAuth]))
    }

    /// A device's certificate. It names a certificate policy only if the operator has one.
    ///
    /// - Parameter key: DER SubjectPublicKeyInfo.
    /// - Returns: the field of the extensions in DER.
    func device(key: [UInt8], revocationListURL: String, policyOID: String?) throws -> [UInt8] {
        var extensions = [
            authorityKeyIdentifier, try Self.encoded(Self.subjectKeyIdentifier(of: Self.bits(of: key))),
            digitalSignature, notAuthority,
            clientAuthentication, try Self.encoded(Self.distributionPoint(revocationListURL)),
        ]
        if let policyOID { extensions.append(try Self.encoded(Self.policy(policyOID))) }
        return Self.field(extensions)
    }

    /// An administrator's certificate. It names no revocation list, because only the store decides whether it is valid.
    func administrator(key: [UInt8]) throws -> [UInt8] {
        Self.field([
            authorityKeyIdentifier, try Self.encoded(Self.subjectKeyIdentifier(of: Self.bits(of: key))),
            digitalSignature, notAuthority,
            clientAuthentication,
        ])
    }

    /// The certificate of one of the service's own listeners.
    func server(key: [UInt8], names: [GeneralName]) throws -> [UInt8] {
        Self.field([
            authorityKeyIdentifier, try Self.encoded(Self.subjectKeyIdentifier(of: Self.bits(of: key))),
            digitalSignature, notAuthority,
            serverAuthentication, try Self.encoded(SubjectAlternativeNames(names)),
        ])
    }

    /// The field `extensions` of a certificate, `[3] EXPLICIT Extensions` (RFC 5280 §4.1).
    private static func field(_ extensions: [[UInt8]]) -> [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)) {
            $0.appendConstructedNode(identifier: .sequence) { coder in
                for one in extensions { coder.serializeRawBytes(one) }
            }
        }
        return serializer.serializedBytes
    }

    private static func encoded(_ one: some CertificateExtensionConvertible) throws -> [UInt8] {
        try encoded(one.makeCertificateExtension())
    }

    private static func encoded(_ one: Certificate.Extension) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(one)
        return serializer.serializedBytes
    }

    /// A self-signed authority that signs leaves only.
    static func root(key: Certificate.PublicKey) throws -> Certificate.Extensions {
        try Certificate.Extensions([
            try subjectKeyIdentifier(of: key.subjectPublicKeyInfoBytes).makeCertificateExtension(),
            try Critical(KeyUsage(keyCertSign: true, cRLSign: true)).makeCertificateExtension(),
            try Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0)).makeCertificateExtension(),
        ])
    }

    /// RFC 7093 §2, method 1: the first 160 bits of SHA-256 of the key's bits.
    static func subjectKeyIdentifier(of bits: ArraySlice<UInt8>) -> SubjectKeyIdentifier {
        SubjectKeyIdentifier(keyIdentifier: ArraySlice(SHA256.hash(data: bits).prefix(20)))
    }

    /// The bit string in a SubjectPublicKeyInfo.
    private static func bits(of key: [UInt8]) throws -> ArraySlice<UInt8> {
        try DER.sequence(try DER.parse(key), identifier: .sequence) { nodes in
            _ = nodes.next()
            return try ASN1BitString(derEncoded: &nodes).bytes
        }
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
