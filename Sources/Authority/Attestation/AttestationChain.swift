import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// The certificates of an Android key, its own first, whose signatures lead to a root of Google.
struct AttestationChain {
    let certificates: [Certificate]
    let description: AndroidKeyDescription

    /// - Parameters:
    ///   - chain: certificates in DER. The root's may be among them or not.
    ///   - roots: the pinned keys.
    init(_ chain: [[UInt8]], roots: [Certificate.PublicKey], now: Date) throws(AttestationDefect) {
        guard (2...10).contains(chain.count), chain.allSatisfy({ $0.count <= IssuerProfile.maximumLength }) else {
            throw .androidChain
        }
        let certificates = chain.compactMap { try? Certificate(strictDER: $0) }
        guard certificates.count == chain.count, let leaf = certificates.first, let last = certificates.last else {
            throw .androidChain
        }
        // A key signs one description, its own. The owner of a true chain could append a certificate to it.
        let above = certificates.dropFirst()
        guard !above.contains(where: { $0.extensions[oid: AndroidKeyDescription.identifier] != nil }) else {
            throw .extended
        }
        // From the root on: a stranger's own chain, of the slowest keys, ends at its first certificate.
        let isRoot = roots.contains(last.publicKey)
        guard isRoot || roots.contains(where: { $0.isValidSignature(last.signature, for: last) }) else {
            throw .androidRoot
        }
        guard above.allSatisfy(\.mayIssueAttestations),
            zip(certificates, above).reversed().allSatisfy({ $1.publicKey.isValidSignature($0.signature, for: $0) })
        else { throw .androidChain }
        try Self.checkValidity(of: isRoot ? above.dropLast() : above, now: now)
        guard let value = leaf.extensions[oid: AndroidKeyDescription.identifier]?.value,
            let description = try? AndroidKeyDescription(derEncoded: value)
        else { throw .description }
        self.certificates = certificates
        self.description = description
    }

    /// Chains of keys that were provisioned remotely are renewed every few weeks, and must be valid. Those of the factory are
    /// as old as the device, and their dates were often never right.
    private static func checkValidity(
        of certificates: ArraySlice<Certificate>, now: Date
    ) throws(AttestationDefect) {
        let isRemote = certificates.contains { certificate in
            IssuerProfile.name(.RDNAttributeType.organizationName, in: certificate.subject)?
                .hasSameBytes(as: "Google LLC") == true
        }
        guard
            !isRemote || certificates.allSatisfy({ now >= $0.notValidBefore && now <= $0.notValidAfter })
        else { throw .androidValidity }
    }

    /// The serial numbers, as the status list writes them.
    var serials: [String] { certificates.map { AttestedSerial.text($0.serialNumber.bytes) } }
}

extension AndroidKeyDescription.Application {
    func isOf(_ app: AttestedApp) -> Bool {
        guard case .android(let package, let certificate) = app else { return false }
        return packages.contains { $0.elementsEqual(package.utf8) }
            && certificates.contains { $0.elementsEqual(certificate.bytes) }
    }
}
