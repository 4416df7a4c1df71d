import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

package extension TrustList {
    /// The certificates to which the signers of lists must lead.
    ///
    /// A signer may be certified by an authority that the root certified, so a path has up to four certificates. The
    /// checks are those of RFC 5280 §6.1.3, §6.1.4 and §6.1.5 without policies, names and revocation.
    struct Roots: Sendable {
        private let roots: [Certificate]

        /// The signer of a list, two authorities and the root.
        private static let maximumPath = 4
        /// The purpose of a signer of lists (ISO/IEC 18013-5 Annex C).
        private static let listSigning = ExtendedKeyUsage.Usage(oid: [1, 0, 18013, 5, 1, 8])
    }
}

package extension TrustList.Roots {
    /// Takes certificates in DER.
    ///
    /// - Throws: `AuthorityError/malformedCertificate`, or `AuthorityError/notAnAuthority`.
    init(_ certificates: [[UInt8]]) throws(AuthorityError) {
        var roots: [Certificate] = []
        for bytes in certificates {
            guard let certificate = try? Certificate(strictDER: bytes) else { throw .malformedCertificate }
            guard Self.certifies(certificate, others: 0) else { throw .notAnAuthority }
            roots.append(certificate)
        }
        self.roots = roots
    }
}

extension TrustList.Roots {
    /// The key of a list's signer.
    ///
    /// - Parameter chain: its certificates in DER, the signer's first. A root among them proves nothing.
    func key(of chain: [[UInt8]], now: Date) throws(TrustList.Defect) -> PublicKey {
        guard chain.count <= Self.maximumPath else { throw .certificate }
        var certificates: [Certificate] = []
        for bytes in chain {
            guard bytes.count <= IssuerProfile.maximumLength, let certificate = try? Certificate(strictDER: bytes),
                certificate.version == .v3
            else { throw .certificate }
            certificates.append(certificate)
        }
        guard let signer = certificates.first, Self.signsLists(signer), let key = try? IssuerProfile.key(of: signer)
        else { throw .signer }
        try requirePath(from: signer, Array(certificates.dropFirst()), now: now)
        return key
    }

    private static func signsLists(_ certificate: Certificate) -> Bool {
        let extensions = certificate.extensions
        let constraints: BasicConstraints?
        do { constraints = try extensions.basicConstraints } catch { return false }
        guard IssuerProfile.hasOnlyUnderstood(certificate),
            constraints == nil || constraints == .notCertificateAuthority,
            let usage = try? extensions.keyUsage, usage.digitalSignature, !usage.keyCertSign
        else { return false }
        return (try? extensions.extendedKeyUsage)?.contains(listSigning) == true
    }

    private func requirePath(
        from signer: Certificate, _ authorities: [Certificate], now: Date
    ) throws(TrustList.Defect) {
        var current = signer
        for others in 0..<Self.maximumPath {
            guard current.isValid(at: now) else { throw .validity }
            if let root = Self.issuer(of: current, among: roots, others: others, now: now) {
                guard root.isValid(at: now) else { throw .validity }
                return
            }
            guard let next = Self.issuer(of: current, among: authorities, others: others, now: now) else { break }
            current = next
        }
        throw .root
    }

    /// The certificate that certifies another.
    ///
    /// - Parameter others: the number of authorities between it and the signer.
    private static func issuer(
        of certificate: Certificate, among list: [Certificate], others: Int, now: Date
    ) -> Certificate? {
        let named = list.filter { $0.subject.hasSameBytes(as: certificate.issuer) && certifies($0, others: others) }
        return certificate.issuer(among: named, \.self, at: now)
    }

    private static func certifies(_ certificate: Certificate, others: Int) -> Bool {
        let extensions = certificate.extensions
        guard IssuerProfile.hasOnlyUnderstood(certificate),
            case .isCertificateAuthority(let most)? = try? extensions.basicConstraints,
            (try? extensions.keyUsage)?.keyCertSign == true
        else { return false }
        return most.map { others <= $0 } ?? true
    }
}
