import Crypto
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// The issuers of credentials that the operator trusts, and the verification of a signer's certificate by them.
///
/// An issuer's authority (IACA, ISO/IEC 18013-5 Annex B.1) signs signers only, so a chain is one signature. The checks are
/// those of RFC 5280 §6.1.3 and §6.1.5 for a path of one, as in ``ClientChain``.
package struct IssuerTrust: Sendable {
    private let anchors: [Anchor]
    /// The issuers by the hashes of their names. A list may have many issuers, and any caller may name one that it does not
    /// have: a dictionary of names would compare that name with several others, which takes a microsecond each.
    private let named: [Int: [Anchor]]
    private let known = KnownSigners()
}

package extension IssuerTrust.Anchor {
    /// Takes a certificate in DER.
    ///
    /// - Parameter types: document types and `vct` values; `nil` for all.
    /// - Throws: ``AuthorityError/malformedCertificate``, or ``AuthorityError/notAnAuthority`` if it does not have the
    ///   profile of an issuer's authority.
    init(_ bytes: [UInt8], types: Set<String>?) throws(AuthorityError) {
        guard let certificate = try? Certificate(strictDER: bytes) else { throw .malformedCertificate }
        guard IssuerProfile.isAuthority(certificate) else { throw .notAnAuthority }
        self.certificate = certificate
        self.types = types
        thumbprint = Array(SHA256.hash(data: bytes))
    }

    /// The common name of the authority, or all of its name if it has none.
    var name: String {
        IssuerProfile.name(.RDNAttributeType.commonName, in: certificate.subject) ?? certificate.subject.description
    }

    /// The last second of the certificate's validity period.
    var end: Date { certificate.notValidAfter }

    /// The types that its signers may sign, in the order of their texts; `nil` for all.
    var typeNames: [String]? { types?.sorted() }
}

package extension IssuerTrust {
    /// A trusted certificate, and the types of credentials that its signers may sign.
    struct Anchor: Sendable {
        fileprivate let certificate: Certificate
        fileprivate let types: Set<String>?
        /// SHA-256 of the certificate in DER.
        package let thumbprint: [UInt8]
    }

    init(_ anchors: [Anchor]) {
        self.anchors = anchors
        named = Dictionary(grouping: anchors) { $0.certificate.subject.hashValue }
    }

    /// Trusts further issuers, such as those of a list.
    func adding(_ more: [Anchor]) -> IssuerTrust { IssuerTrust(anchors + more) }

    /// The authorities of a name. Several have one while an issuer changes its key.
    func anchors(named name: DistinguishedName) -> [Anchor] {
        named[name.hashValue, default: []].filter { $0.certificate.subject.hasSameBytes(as: name) }
    }

    /// What the signer of a certificate must be.
    enum Use: Sendable, Hashable {
        /// The signer of mobile documents of this type (Annex B.1.4).
        case mobileDocument(type: String)
        /// The signer of SD-JWT VCs with this `vct`.
        case selectiveDisclosure(type: String)
        /// The signer of a status list for credentials of a root (SHA-256 of its certificate).
        case statusList(root: [UInt8])

        fileprivate func admits(_ anchor: Anchor) -> Bool {
            switch self {
            case .mobileDocument(let type), .selectiveDisclosure(let type): anchor.types?.contains(type) ?? true
            case .statusList(let root): anchor.thumbprint == root
            }
        }
    }

    /// Verifies a chain, the signer's certificate first, each in DER. Certificates after it are ignored: an authority is
    /// trusted because it was configured, never because a wallet sent it.
    ///
    /// - Throws: `unknown_issuer` or `issuer_certificate`.
    func signer(of chain: [[UInt8]], for use: Use, now: Date) throws(PresentationDefect) -> CredentialSigner {
        guard let bytes = chain.first else {
            throw PresentationDefect(.unknownIssuer, "The issuer's signature has no certificate (x5chain or x5c).")
        }
        guard bytes.count <= IssuerProfile.maximumLength else {
            throw Self.refused("It is longer than \(IssuerProfile.maximumLength) bytes.")
        }
        let key = KnownSigners.Key(certificate: bytes, use: use)
        if let signer = known.find(key, now: now) { return signer }
        let (signer, validity) = try verifiedSigner(bytes, for: use, now: now)
        known.keep(signer, as: key, validity: validity)
        return signer
    }

    /// Verifies the certificate of a signer.
    private func verifiedSigner(
        _ bytes: [UInt8], for use: Use, now: Date
    ) throws(PresentationDefect) -> (signer: CredentialSigner, validity: ClosedRange<Date>) {
        guard let leaf = try? Certificate(strictDER: bytes), leaf.version == .v3 else {
            throw Self.refused("It is not X.509 version 3 in DER, or its key is of an unsupported kind.")
        }
        let named = anchors(named: leaf.issuer)
        guard !named.isEmpty else {
            throw PresentationDefect(.unknownIssuer, "The issuer of the signer's certificate is not trusted.")
        }
        let admitted = named.filter(use.admits)
        guard !admitted.isEmpty else {
            throw PresentationDefect(.unknownIssuer, "The issuer is not trusted for this type of credential.")
        }
        guard let anchor = leaf.issuer(among: admitted, \.certificate, at: now) else {
            throw Self.refused("Its signature does not verify with the trusted issuer's key.")
        }
        let begin = max(leaf.notValidBefore, anchor.certificate.notValidBefore)
        let end = min(leaf.notValidAfter, anchor.certificate.notValidAfter)
        guard begin <= now, now <= end else { throw Self.refused("It or its issuer's certificate is not valid now.") }
        try IssuerProfile.checkSigner(leaf, for: use)
        let signer = CredentialSigner(
            key: try IssuerProfile.key(of: leaf),
            country: IssuerProfile.name(.RDNAttributeType.countryName, in: leaf.subject),
            jurisdiction: IssuerProfile.name(.RDNAttributeType.stateOrProvinceName, in: leaf.subject),
            notBefore: leaf.notValidBefore, notAfter: leaf.notValidAfter, root: anchor.thumbprint)
        return (signer, begin...end)
    }

    static func refused(_ detail: String) -> PresentationDefect {
        PresentationDefect(.issuerCertificate, "The signer's certificate is not valid. \(detail)")
    }

    /// The key identifiers (RFC 5280 §4.2.1.2) of the authorities that are trusted for a type of credentials; `nil` if one
    /// has none, because a list without it would exclude its credentials.
    func keyIdentifiers(for type: String) -> [[UInt8]]? {
        let trusted = anchors.filter { $0.types?.contains(type) ?? true }
        let identifiers = trusted.compactMap { anchor in
            (try? anchor.certificate.extensions.subjectKeyIdentifier).map { Array($0.keyIdentifier) }
        }
        return identifiers.isEmpty || identifiers.count < trusted.count ? nil : identifiers
    }
}
