import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// The certificates of an Android key, its own first, which are a path to a root of Google.
struct AttestationChain {
    let certificates: [Certificate]
    let description: AndroidKeyDescription

    /// - Parameter chain: certificates in DER. The root's may be among them or not.
    init(_ chain: [[UInt8]], roots: [TrustAnchor], now: Date) throws(AttestationDefect) {
        guard (2...10).contains(chain.count), chain.allSatisfy({ $0.count <= IssuerProfile.maximumLength }) else {
            throw .androidChain
        }
        let certificates = chain.compactMap { try? Certificate(strictDER: $0) }
        guard certificates.count == chain.count, let leaf = certificates.first else { throw .androidChain }
        // A key signs one description, its own. The owner of a true chain could append a certificate to it.
        guard !certificates.dropFirst().contains(where: { $0.extensions[oid: AndroidKeyDescription.identifier] != nil })
        else { throw .extended }
        let path = try Self.path(certificates, to: roots)
        try Self.checkValidity(of: path.certificates.dropFirst(), now: now)
        guard let value = leaf.extensions[oid: AndroidKeyDescription.identifier]?.value,
            let description = try? AndroidKeyDescription(derEncoded: value)
        else { throw .description }
        self.certificates = certificates
        self.description = description
    }

    private static func path(
        _ certificates: [Certificate], to roots: [TrustAnchor]
    ) throws(AttestationDefect) -> CertificationPath {
        do throws(CertificationPath.Defect) {
            return try CertificationPath(certificates, to: roots, understood: [AndroidKeyDescription.identifier])
        } catch {
            switch error {
            case .anchor: throw .androidRoot
            case .signature: throw .androidChain
            case .name: throw .androidNames
            case .authority: throw .androidAuthority
            case .length: throw .androidPathLength
            case .criticalExtension: throw .androidExtension
            }
        }
    }

    /// Dates are verified as Google's own verifier does it. The key's own are set on the device, by a clock that may be wrong,
    /// and are often those from 1970 to 2048: they say nothing. An authority from the factory cannot be renewed on a
    /// device that was sold, so it counts after its end, but no authority counts before its beginning.
    private static func checkValidity(
        of authorities: ArraySlice<Certificate>, now: Date
    ) throws(AttestationDefect) {
        let isOfFactory = authorities.last.map(Self.isOfFactory) ?? false
        guard authorities.allSatisfy({ $0.notValidBefore <= now && (isOfFactory || now <= $0.notValidAfter) }) else {
            throw .androidValidity
        }
    }

    /// Whether the root certified an authority that was put into devices in the factory. Its name has a serial number, and
    /// what hardware it is for as title.
    private static func isOfFactory(_ authority: Certificate) -> Bool {
        guard IssuerProfile.name([2, 5, 4, 5], in: authority.subject) != nil,
            let title = IssuerProfile.name([2, 5, 4, 12], in: authority.subject)
        else { return false }
        return title.hasSameBytes(as: "TEE") || title.hasSameBytes(as: "StrongBox")
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
