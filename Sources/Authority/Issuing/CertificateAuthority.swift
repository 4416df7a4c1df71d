import Crypto
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// The internal certification authority: its certificate, its key, and the certificates and lists that it signs.
package struct CertificateAuthority: Sendable {
    /// The authority's certificate first, then those above it, each in DER.
    package let chain: [[UInt8]]
    /// ``chain`` in PEM, each certificate with a line feed at the end.
    package let chainPEM: [String]
    /// The digest of the authority's key: SHA-256 of its SubjectPublicKeyInfo.
    package let id: Digest256
    /// The end of the authority's validity period.
    package let notAfter: Date

    let certificate: Certificate
    let signingKey: SigningKey
    /// The authority's subject key identifier, which becomes the authority key identifier of what it signs.
    let keyIdentifier: ArraySlice<UInt8>
    /// The authority's name in DER.
    private let name: [UInt8]
    private let profile: CertificateProfile

    /// Seconds by which a certificate's validity starts before its issuance, for devices with slow clocks.
    static let backdating = 300

    init(_ certificate: Certificate, chain: [[UInt8]], signingKey: SigningKey) throws {
        guard certificate.mayIssueCertificates else { throw AuthorityError.notAnAuthority }
        let probe = Array("Countersign: does the key belong to the certificate?".utf8)
        let signature = try signingKey.sign(probe)
        guard
            certificate.publicKey == signingKey.privateKey.publicKey,
            certificate.publicKey.isValidSignature(
                signature, for: probe, signatureAlgorithm: signingKey.signatureAlgorithm)
        else { throw AuthorityError.keyMismatch }
        keyIdentifier =
            try certificate.extensions.subjectKeyIdentifier?.keyIdentifier
            ?? CertificateProfile.subjectKeyIdentifier(of: certificate.publicKey.subjectPublicKeyInfoBytes)
            .keyIdentifier
        profile = try CertificateProfile(authorityKeyIdentifier: keyIdentifier)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate.subject)
        name = serializer.serializedBytes
        notAfter = certificate.notValidAfter
        id = Digest256.of(signingKey.subjectPublicKeyInfo)
        self.certificate = certificate
        self.chain = chain
        chainPEM = chain.map { PEM.encode($0, label: "CERTIFICATE") }
        self.signingKey = signingKey
    }
}

package extension CertificateAuthority {
    /// Takes an authority's certificate in PEM, followed by those that lead to the root, and its key.
    ///
    /// The key signs once here, so that an unusable key is found at the start and not by the first device.
    ///
    /// - Throws: ``AuthorityError/malformedCertificate``, ``AuthorityError/notAnAuthority``,
    ///   ``AuthorityError/keyMismatch``, ``AuthorityError/module(_:)``.
    init(certificatePEM: String, signingKey: SigningKey) throws {
        let documents = (try? PEMDocument.parseMultiple(pemString: certificatePEM)) ?? []
        let certificates = documents.filter { $0.discriminator == "CERTIFICATE" }.map(\.derBytes)
        guard let first = certificates.first, certificates.allSatisfy({ (try? Certificate(derEncoded: $0)) != nil }),
            let certificate = try? Certificate(derEncoded: first)
        else { throw AuthorityError.malformedCertificate }
        try self.init(certificate, chain: certificates, signingKey: signingKey)
    }

    /// Certifies a device's key, only for authentication as a TLS client.
    ///
    /// - Parameters:
    ///   - key: the key to certify, with proved possession.
    ///   - deviceID: the common name, and the whole subject.
    ///   - serial: 16 random bytes.
    ///   - now: the time of issuance; validity begins 5 minutes earlier.
    ///   - validity: seconds from `now` to the end; if the authority ends earlier, the certificate does too.
    ///   - revocationListURL: the URL of the revocation list, `http` or `https`.
    ///   - policyOID: the certificate policy in dotted form; `nil` for none.
    /// - Throws: ``AuthorityError/authorityExpired``, ``AuthorityError/invalidSerial``,
    ///   ``AuthorityError/invalidName(_:)``, ``AuthorityError/module(_:)``.
    func issue(
        _ key: DevicePublicKey, deviceID: DeviceID, serial: [UInt8], now: Date, validity: Int,
        revocationListURL: String, policyOID: String?
    ) throws -> IssuedCertificate {
        let extensions = try profile.device(
            key: key.subjectPublicKeyInfo, revocationListURL: revocationListURL, policyOID: policyOID)
        return try sign(
            key.subjectPublicKeyInfo, keyHash: key.keyHash, commonName: deviceID.description, extensions: extensions,
            serial: serial, now: now, validity: validity)
    }

    /// Certifies a key of the service itself as a TLS server.
    ///
    /// - Parameters:
    ///   - key: the server's key; only its public half is used.
    ///   - hosts: DNS names (`*.` in front is allowed) and IP addresses; the first becomes the common name.
    ///   - serial: 16 random bytes.
    ///   - now: the time of issuance.
    ///   - validity: seconds, as for ``issue(_:deviceID:serial:now:validity:revocationListURL:policyOID:)``.
    /// - Throws: ``AuthorityError``, also if a host is not a name or an address.
    func issueServerCertificate(
        _ key: SigningKey, hosts: [String], serial: [UInt8], now: Date, validity: Int
    ) throws -> IssuedCertificate {
        let names = try hosts.map { try ServerName($0).generalName }
        guard let commonName = hosts.first else { throw AuthorityError.invalidName("") }
        let key = key.subjectPublicKeyInfo
        return try sign(
            key, keyHash: Array(SHA256.hash(data: key)), commonName: String(commonName.prefix(64)),
            extensions: try profile.server(key: key, names: names), serial: serial, now: now, validity: validity)
    }

    /// Certifies an administrator's key, only for authentication as a TLS client.
    ///
    /// - Parameters:
    ///   - key: the key to certify, with proved possession.
    ///   - name: the common name, and the whole subject.
    ///   - serial: 16 random bytes.
    ///   - now: the time of issuance.
    ///   - validity: seconds, as for ``issue(_:deviceID:serial:now:validity:revocationListURL:policyOID:)``.
    /// - Throws: ``AuthorityError``.
    func issueAdministratorCertificate(
        _ key: DevicePublicKey, name: String, serial: [UInt8], now: Date, validity: Int
    ) throws -> IssuedCertificate {
        guard (1...64).contains(name.utf8.count) else { throw AuthorityError.invalidName(name) }
        let info = key.subjectPublicKeyInfo
        return try sign(
            info, keyHash: key.keyHash, commonName: name, extensions: try profile.administrator(key: info),
            serial: serial, now: now, validity: validity)
    }

    /// Signs a certificate. It is written from encoded parts: composed by the library it took as long as its signature
    /// twice over.
    private func sign(
        _ subjectPublicKeyInfo: [UInt8], keyHash: [UInt8], commonName: String, extensions: [UInt8], serial: [UInt8],
        now: Date, validity: Int
    ) throws -> IssuedCertificate {
        guard now >= certificate.notValidBefore, now < notAfter, validity > 0 else {
            throw AuthorityError.authorityExpired
        }
        let now = CertificateTime(now).date
        let number = try SerialNumber.make(serial)
        let period = (
            from: CertificateTime(max(certificate.notValidBefore, now - TimeInterval(Self.backdating))),
            to: CertificateTime(min(notAfter, now + TimeInterval(validity)))
        )
        var document = DER.Serializer()
        try document.appendConstructedNode(identifier: .sequence) { coder in
            // RFC 5280 §4.1: version 3, then the fields in their order.
            coder.serializeRawBytes([0xA0, 0x03, 0x02, 0x01, 0x02])
            try coder.serialize(number.bytes)
            coder.serializeRawBytes(signingKey.algorithmIdentifier)
            coder.serializeRawBytes(name)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(period.from)
                try coder.serialize(period.to)
            }
            try coder.serialize(try DistinguishedName { CommonName(commonName) })
            coder.serializeRawBytes(subjectPublicKeyInfo)
            coder.serializeRawBytes(extensions)
        }
        return try IssuedCertificate(
            signingKey.signed(document), serial: number, notBefore: period.from.date, notAfter: period.to.date,
            keyHash: keyHash)
    }

    /// The validity of a root: 20 years of 365.25 days, in seconds.
    static let rootValidity = 631_152_000

    /// Creates a self-signed authority that signs leaves only (path length 0).
    ///
    /// - Parameters:
    ///   - commonName: its name, at most 64 characters (RFC 5280 §A.1).
    ///   - signingKey: its key, such as one of ``SigningKey/generate()``.
    ///   - serial: 16 random bytes.
    ///   - now: validity begins 5 minutes earlier and lasts 20 years.
    /// - Throws: ``AuthorityError``.
    static func createRoot(
        commonName: String, signingKey: SigningKey, serial: [UInt8], now: Date
    ) throws -> CertificateAuthority {
        guard (1...64).contains(commonName.unicodeScalars.count) else { throw AuthorityError.invalidName(commonName) }
        let name = try DistinguishedName { CommonName(commonName) }
        let key = signingKey.privateKey.publicKey
        let now = CertificateTime(now).date
        let certificate = try Certificate(
            version: .v3, serialNumber: try SerialNumber.make(serial), publicKey: key,
            notValidBefore: now - TimeInterval(backdating), notValidAfter: now + TimeInterval(rootValidity),
            issuer: name, subject: name, signatureAlgorithm: signingKey.signatureAlgorithm,
            extensions: try CertificateProfile.root(key: key), issuerPrivateKey: signingKey.privateKey)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return try CertificateAuthority(certificate, chain: [serializer.serializedBytes], signingKey: signingKey)
    }
}

extension Certificate {
    /// Whether basic constraints and key usage let the holder sign certificates and revocation lists.
    var mayIssueCertificates: Bool {
        guard case .isCertificateAuthority? = try? extensions.basicConstraints, let usage = try? extensions.keyUsage
        else { return false }
        return usage.keyCertSign && usage.cRLSign
    }
}
