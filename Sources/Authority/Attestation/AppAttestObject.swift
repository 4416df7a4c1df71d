import Crypto
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// What App Attest says about a new key, parsed and not verified.
///
/// The object is that of WebAuthn §6.5 with the format `apple-appattest`. Its receipt is for calls to Apple's servers, and is not
/// read.
struct AppAttestObject {
    let leaf: Certificate
    let intermediate: Certificate
    let data: AuthenticatorData
    /// The SHA-256 that the leaf's extension contains.
    let nonce: ArraySlice<UInt8>

    /// Longer objects are refused, bytes. One has about 5,600, most of them its receipt.
    private static let maximumLength = 32_768
    private static let extensionIdentifier: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 8, 2]
    /// The purpose of the leaf is Apple's own, and says nothing more than its issuer.
    fileprivate static let understood: Set<ASN1ObjectIdentifier> = [
        extensionIdentifier, .X509ExtensionID.extendedKeyUsage,
    ]
    /// A sequence with one explicit tag [1] around an octet string of 32 bytes.
    private static let extensionStart: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]

    init(_ bytes: [UInt8]) throws(AttestationDefect) {
        guard let object = try? CBORReader.read(bytes[...], upTo: Self.maximumLength), object.count == 3,
            let format = object["fmt"]?.text, let authenticatorData = object["authData"]?.bytes,
            let data = AuthenticatorData(authenticatorData)
        else { throw .object }
        guard format.hasSameBytes(as: "apple-appattest") else { throw .format }
        guard let statement = object["attStmt"], let elements = statement["x5c"]?.elements, elements.count == 2,
            let leaf = Self.certificate(elements[0]), let intermediate = Self.certificate(elements[1])
        else { throw .appleChain }
        guard let value = leaf.extensions[oid: Self.extensionIdentifier]?.value, value.count == 38,
            value.starts(with: Self.extensionStart)
        else { throw .appleNonce }
        self.leaf = leaf
        self.intermediate = intermediate
        self.data = data
        nonce = value.suffix(32)
    }

    private static func certificate(_ value: CBORValue) -> Certificate? {
        guard let bytes = value.bytes, let certificate = try? Certificate(strictDER: Array(bytes)),
            certificate.version == .v3
        else { return nil }
        return certificate
    }
}

extension AppAttestObject {
    /// Verifies the two certificates, up to a pinned root.
    func verifyChain(roots: [TrustAnchor], now: Date) throws(AttestationDefect) {
        guard !leaf.mayCertify,
            let path = try? CertificationPath(
                [leaf, intermediate], to: roots, understood: Self.understood),
            path.certificates.count == 2
        else { throw .appleChain }
        guard [leaf, intermediate].allSatisfy({ now >= $0.notValidBefore && now <= $0.notValidAfter }) else {
            throw .appleValidity
        }
    }
}
