import SwiftASN1
import X509

/// A name and a key to which paths lead (RFC 5280 §6.1.1 (d)). A path says nothing of the rest of a root's certificate.
struct TrustAnchor: Sendable {
    let name: DistinguishedName
    let key: Certificate.PublicKey

    /// Whether a certificate is one of this anchor's. It has several where its maker renewed it.
    func isOf(_ certificate: Certificate) -> Bool {
        certificate.publicKey == key && certificate.subject.hasSameBytes(as: name)
    }
}

/// Certificates that lead to an anchor, verified by RFC 5280 §6.1.3 to §6.1.5 without policies and revocation.
///
/// Dates are the caller's, since not every maker of devices keeps them. Constraints on names and policies are not processed,
/// so a certificate in which they are critical is refused like one with any other unknown critical extension.
struct CertificationPath {
    /// The certificates below the anchor, the target first.
    let certificates: [Certificate]

    enum Defect: Error, CaseIterable {
        /// No anchor signed the certificate that is the farthest from the target.
        case anchor
        /// A certificate was not signed by the next one, or is not X.509 version 3.
        case signature
        /// The issuer that a certificate names is not the subject of the next one.
        case name
        /// A certificate above the target may not sign certificates (§4.2.1.9, §4.2.1.3).
        case authority
        /// There are more authorities below a certificate than it permits.
        case length
        /// An unknown extension is critical (§4.2).
        case criticalExtension
    }

    /// - Parameters:
    ///   - chain: the target first. A certificate of the anchor may be the last one, and proves nothing.
    ///   - understood: extensions of the target that the caller reads.
    init(
        _ chain: [Certificate], to anchors: [TrustAnchor], understood: Set<ASN1ObjectIdentifier>
    ) throws(Defect) {
        guard chain.allSatisfy({ $0.version == .v3 }) else { throw .signature }
        let endsAtAnchor = chain.last.map { last in anchors.contains { $0.isOf(last) } } ?? false
        let path = endsAtAnchor ? chain.dropLast() : chain[...]
        guard let top = path.last, let target = path.first else { throw .anchor }
        // From the anchor on: a stranger's own path, of the slowest keys, ends at its first certificate.
        let signers = anchors.filter { $0.key.isValidSignature(top.signature, for: top) }
        guard !signers.isEmpty else { throw endsAtAnchor ? .signature : .anchor }
        guard signers.contains(where: { top.issuer.hasSameBytes(as: $0.name) }) else { throw .name }
        var permitted: Int?
        for (issuer, subject) in zip(path.dropFirst(), path).reversed() {
            guard issuer.mayCertify else { throw .authority }
            guard issuer.hasOnlyCritical(Self.understood) else { throw .criticalExtension }
            permitted = try Self.permitted(by: issuer, below: permitted)
            guard issuer.publicKey.isValidSignature(subject.signature, for: subject) else { throw .signature }
            guard subject.issuer.hasSameBytes(as: issuer.subject) else { throw .name }
        }
        guard target.hasOnlyCritical(Self.understood.union(understood)) else { throw .criticalExtension }
        certificates = Array(path)
    }

    private static let understood: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage,
    ]

    /// The number of authorities that may follow one (§6.1.4 (l) and (m)); `nil` for any. Those with their issuer's name
    /// are not counted.
    private static func permitted(by issuer: Certificate, below number: Int?) throws(Defect) -> Int? {
        var left = number
        if let number, !issuer.subject.hasSameBytes(as: issuer.issuer) {
            guard number > 0 else { throw .length }
            left = number - 1
        }
        guard case .isCertificateAuthority(let most?)? = try? issuer.extensions.basicConstraints else { return left }
        return left.map { min($0, most) } ?? most
    }
}

extension Certificate {
    /// Whether it is an authority's (RFC 5280 §4.2.1.9 and §4.2.1.3).
    var mayCertify: Bool {
        guard case .isCertificateAuthority = try? extensions.basicConstraints else { return false }
        do {
            return try extensions.keyUsage?.keyCertSign ?? true
        } catch {
            return false
        }
    }

    /// Whether each critical extension is one of these (RFC 5280 §4.2).
    func hasOnlyCritical(_ understood: Set<ASN1ObjectIdentifier>) -> Bool {
        extensions.allSatisfy { !$0.critical || understood.contains($0.oid) }
    }

    /// Whether its own key signed it, under its own name.
    var isSelfSigned: Bool { issuer.hasSameBytes(as: subject) && publicKey.isValidSignature(signature, for: self) }
}

extension DistinguishedName {
    /// Whether the two have one encoding. The library compares texts, of which several spellings are equal.
    func hasSameBytes(as other: DistinguishedName) -> Bool {
        var (own, others) = (DER.Serializer(), DER.Serializer())
        do {
            try own.serialize(self)
            try others.serialize(other)
        } catch { return false }
        return own.serializedBytes == others.serializedBytes
    }
}
