import Crypto
import Domain
import Encoding
import SwiftASN1
import X509

/// The certificates of issuers and their signers (ISO/IEC 18013-5 Annex B.1).
enum IssuerProfile {
    /// Longer certificates are refused, bytes.
    static let maximumLength = 8192

    /// The purpose of signers of mobile documents: `1.0.18013.5.1.2`.
    private static let documentSigning = ExtendedKeyUsage.Usage(oid: [1, 0, 18013, 5, 1, 2])

    private static let understood: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, .X509ExtensionID.extendedKeyUsage,
    ]

    /// Whether a certificate is that of an authority that signs signers only, with a key on P-256 or P-384 (B.1.2).
    static func isAuthority(_ certificate: Certificate) -> Bool {
        let extensions = certificate.extensions
        return certificate.version == .v3 && hasOnlyUnderstood(certificate)
            && (try? extensions.basicConstraints) == .isCertificateAuthority(maxPathLength: 0)
            && (try? extensions.keyUsage)?.keyCertSign == true && (try? key(of: certificate)) != nil
    }

    /// Checks that a certificate is that of a signer for a use, and not an authority's own.
    static func checkSigner(_ certificate: Certificate, for use: IssuerTrust.Use) throws(PresentationDefect) {
        let extensions = certificate.extensions
        guard hasOnlyUnderstood(certificate) else {
            throw IssuerTrust.refused("It has an unknown critical extension.")
        }
        let constraints: BasicConstraints?
        let (usage, purposes): (KeyUsage?, ExtendedKeyUsage?)
        do {
            constraints = try extensions.basicConstraints
            (usage, purposes) = (try extensions.keyUsage, try extensions.extendedKeyUsage)
        } catch {
            throw IssuerTrust.refused("An extension in it cannot be parsed.")
        }
        guard constraints == nil || constraints == .notCertificateAuthority, usage?.keyCertSign != true else {
            throw IssuerTrust.refused("It is an authority's, and an authority signs certificates only.")
        }
        guard usage?.digitalSignature == true else {
            throw IssuerTrust.refused("Its key usage is not digitalSignature.")
        }
        guard case .mobileDocument = use else { return }
        guard purposes?.contains(documentSigning) == true else {
            throw IssuerTrust.refused("Its extended key usage is not that of a document signer, 1.0.18013.5.1.2.")
        }
    }

    /// The key, which must be on P-256 or P-384.
    static func key(of certificate: Certificate) throws(PresentationDefect) -> PublicKey {
        let key = certificate.publicKey
        guard
            let bytes = P256.Signing.PublicKey(key)?.derRepresentation
                ?? P384.Signing.PublicKey(key)?.derRepresentation
        else { throw IssuerTrust.refused("Its key is not on P-256 or P-384.") }
        do throws(PublicKeyDefect) {
            return try PublicKey(subjectPublicKeyInfo: Array(bytes))
        } catch {
            throw IssuerTrust.refused(error.detail)
        }
    }

    /// The one value of an attribute; `nil` if there is none or more than one.
    static func name(_ type: ASN1ObjectIdentifier, in subject: DistinguishedName) -> String? {
        let attributes = subject.joined().filter { $0.type == type }
        return attributes.count == 1 ? attributes.first.flatMap { String($0.value) } : nil
    }

    /// Whether each critical extension is one that is checked (RFC 5280 §4.2).
    static func hasOnlyUnderstood(_ certificate: Certificate) -> Bool { certificate.hasOnlyCritical(understood) }
}
