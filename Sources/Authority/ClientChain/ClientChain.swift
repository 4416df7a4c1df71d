import Crypto
import Domain
import Foundation
import SwiftASN1
import X509

/// The verification of a client's certificate chain in a TLS handshake.
///
/// It does not use swift-certificates' `Verifier`. The authority signs leaves only, so a chain is one signature.
/// `Verifier` is asynchronous, so a handshake would have to leave its event loop, and its RFC 5280 policy checks
/// neither usage. The checks here are those of RFC 5280 §6.1.3 and §6.1.5 for a path of one.
package struct ClientChain: Sendable {
    private let authorities: [Certificate]
}

package extension ClientChain {
    /// The data of a client certificate that the authority signed for this use and that is within its validity period. It
    /// may still be revoked, or its device banned.
    struct VerifiedDeviceCertificate: Sendable, Hashable {
        let deviceID: DeviceID
        /// The serial number in the form of ``IssuedCertificate/serial``.
        let serial: String
        /// SHA-256 of the certificate in DER.
        let thumbprint: [UInt8]
        /// The first second of its validity period.
        let notBefore: Date
        /// The last second of its validity period.
        let notAfter: Date
    }

    /// A defect of a chain.
    enum Defect: String, Error, Sendable, CaseIterable {
        /// There is no certificate, or it is not X.509 version 3 in DER.
        case malformed
        /// Its issuer is not trusted.
        case unknownIssuer
        /// Its signature does not verify.
        case badSignature
        /// Its validity period has not begun.
        case notYetValid
        /// It has expired, or its authority's certificate has.
        case expired
        /// It is not for client authentication by signature, or it is an authority's.
        case wrongUsage
        /// It has an unknown critical extension (§4.2).
        case unknownCriticalExtension
        /// Its subject is not exactly one device id.
        case notADevice
    }

    /// Trusts these authorities' certificates, each in DER: the current one, and the previous one while its leaves
    /// are valid.
    ///
    /// - Throws: ``AuthorityError/malformedCertificate``, ``AuthorityError/notAnAuthority``.
    init(trusting authorities: [[UInt8]]) throws(AuthorityError) {
        var certificates: [Certificate] = []
        for bytes in authorities {
            guard let certificate = try? Certificate(strictDER: bytes) else { throw .malformedCertificate }
            guard certificate.mayIssueCertificates else { throw .notAnAuthority }
            certificates.append(certificate)
        }
        self.authorities = certificates
    }

    /// Whether every authority is self-signed, so that a TLS library can verify chains with them alone.
    var areRoots: Bool {
        authorities.allSatisfy(\.isSelfSigned)
    }

    /// Verifies a chain, the leaf first, each in DER. Certificates after the leaf are ignored: an authority is
    /// trusted because it was configured, never because a client sent it.
    ///
    /// - Throws: ``Defect``.
    func verify(_ chain: [[UInt8]], now: Date) throws(Defect) -> VerifiedDeviceCertificate {
        guard let bytes = chain.first, bytes.count <= Self.maximumLength,
            let leaf = try? Certificate(strictDER: bytes), leaf.version == .v3
        else { throw .malformed }
        let issuers = authorities.filter { $0.subject.hasSameBytes(as: leaf.issuer) }
        guard !issuers.isEmpty else { throw .unknownIssuer }
        guard let issuer = leaf.issuer(among: issuers, \.self, at: now) else { throw .badSignature }
        guard now >= leaf.notValidBefore, now >= issuer.notValidBefore else { throw .notYetValid }
        guard now <= leaf.notValidAfter, now <= issuer.notValidAfter else { throw .expired }
        try Self.checkExtensions(of: leaf)
        guard let deviceID = Self.deviceID(leaf.subject) else { throw .notADevice }
        return VerifiedDeviceCertificate(
            deviceID: deviceID, serial: SerialNumber.hexadecimal(leaf.serialNumber),
            thumbprint: Array(SHA256.hash(data: bytes)), notBefore: leaf.notValidBefore, notAfter: leaf.notValidAfter)
    }

    /// A leaf with an RSA key and signature of 4096 bits has about 1,700 bytes.
    private static let maximumLength = 8192

    private static let understood: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, .X509ExtensionID.extendedKeyUsage,
    ]

    private static func checkExtensions(of leaf: Certificate) throws(Defect) {
        let extensions = leaf.extensions
        guard leaf.hasOnlyCritical(understood) else {
            throw .unknownCriticalExtension
        }
        guard (try? extensions.basicConstraints) == .notCertificateAuthority,
            (try? extensions.keyUsage)?.digitalSignature == true,
            (try? extensions.extendedKeyUsage)?.contains(.clientAuth) == true
        else { throw .wrongUsage }
    }

    private static func deviceID(_ subject: DistinguishedName) -> DeviceID? {
        let attributes = Array(subject.joined())
        guard attributes.count == 1, let name = attributes.first, name.type == .RDNAttributeType.commonName else {
            return nil
        }
        return String(name.value).flatMap { DeviceID($0) }
    }
}
