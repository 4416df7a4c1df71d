import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// A PKCS#10 certification request (RFC 2986) whose sender has proved possession of the private key.
///
/// Only the key and the wished device id are read. The requester may not decide anything else, so the rest is not
/// even parsed.
package struct CertificationRequest: Sendable {
    package let publicKey: DevicePublicKey
    /// The subject's common name, if it is a UUID.
    package let wishedDeviceID: DeviceID?

    /// Parses a request in PEM (RFC 7468 §7), or the base64 inside alone, and verifies its signature with the contained key.
    ///
    /// - Throws: `invalid_csr` with reason `malformed`, `bad_proof`, `weak_key` or `unsupported_key`.
    package static func parse(pkcs10 pem: String) throws(Refusal) -> CertificationRequest {
        let parts: Parts
        let bytes = try document(in: pem)
        do {
            parts = try Parts(derEncoded: bytes)
        } catch {
            // A PEM document or a Layer CSR that was encoded once more.
            let isText = bytes.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x0D }
            throw isText ? Refusal.csrEncodedTwice : .csrNotDER
        }
        let publicKey = try DevicePublicKey(subjectPublicKeyInfo: Array(parts.subjectPublicKeyInfo))
        guard let algorithm = proofAlgorithms[parts.signatureAlgorithm] else {
            throw Refusal.csrAlgorithmUnsupported
        }
        guard
            publicKey.certificateKey.isValidSignature(
                parts.signature, for: parts.information, signatureAlgorithm: algorithm)
        else {
            throw Refusal.csrSignatureInvalid
        }
        return CertificationRequest(publicKey: publicKey, wishedDeviceID: deviceID(in: parts.subject))
    }

    private static func document(in text: String) throws(Refusal) -> [UInt8] {
        do throws(PEM.Defect) {
            let document = try PEM(text, bareLabel: "CERTIFICATE REQUEST")
            guard ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"].contains(document.label) else { throw .notOne }
            return document.bytes
        } catch {
            switch error {
            case .tooLong: throw Refusal.csrTooLong
            case .privateKey: throw Refusal.csrWithPrivateKey
            case .absent, .notOne: throw Refusal.csrUnreadable
            }
        }
    }

    /// The accepted signature algorithms, RFC 5758 §3.2 and RFC 4055 §5. SHA-1 is excluded, because it can be forged.
    private static let proofAlgorithms: [ASN1ObjectIdentifier: Certificate.SignatureAlgorithm] = [
        [1, 2, 840, 10_045, 4, 3, 2]: .ecdsaWithSHA256,
        [1, 2, 840, 10_045, 4, 3, 3]: .ecdsaWithSHA384,
        [1, 2, 840, 10_045, 4, 3, 4]: .ecdsaWithSHA512,
        .AlgorithmIdentifier.sha256WithRSAEncryption: .sha256WithRSAEncryption,
        .AlgorithmIdentifier.sha384WithRSAEncryption: .sha384WithRSAEncryption,
        .AlgorithmIdentifier.sha512WithRSAEncryption: .sha512WithRSAEncryption,
    ]

    /// The subject is only a wish, so an unreadable one is ignored.
    private static func deviceID(in subject: ASN1Node) -> DeviceID? {
        guard let name = try? DistinguishedName(derEncoded: subject) else { return nil }
        let commonNames = name.joined().filter { $0.type == .RDNAttributeType.commonName }
        guard commonNames.count == 1, let text = commonNames.first.flatMap({ String($0.value) }) else { return nil }
        return DeviceID(text)
    }

    /// The parts of a request, not verified.
    private struct Parts {
        let information: ArraySlice<UInt8>
        let subject: ASN1Node
        let subjectPublicKeyInfo: ArraySlice<UInt8>
        let signatureAlgorithm: ASN1ObjectIdentifier
        let signature: ArraySlice<UInt8>

        /// RFC 2986 §4: the structure `{ { version, subject, subjectPKInfo, [0] attributes }, algorithm, signature }`.
        init(derEncoded bytes: [UInt8]) throws {
            let absent = ASN1Error.truncatedASN1Field()
            self = try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
                guard let information = nodes.next(), let algorithm = nodes.next() else { throw absent }
                let (subject, publicKey) = try DER.sequence(information, identifier: .sequence) { nodes in
                    guard try Int(derEncoded: &nodes) == 0, let subject = nodes.next(), let publicKey = nodes.next(),
                        subject.identifier == .sequence, publicKey.identifier == .sequence
                    else { throw absent }
                    // The attributes, which some writers omit.
                    if let attributes = nodes.next() {
                        guard attributes.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
                        else { throw absent }
                    }
                    return (subject, publicKey)
                }
                let identifier = try DER.sequence(algorithm, identifier: .sequence) { nodes in
                    let identifier = try ASN1ObjectIdentifier(derEncoded: &nodes)
                    _ = nodes.next()
                    return identifier
                }
                let signature = try ASN1BitString(derEncoded: &nodes)
                guard signature.paddingBits == 0 else { throw absent }
                return Parts(
                    information: information.encodedBytes, subject: subject,
                    subjectPublicKeyInfo: publicKey.encodedBytes, signatureAlgorithm: identifier,
                    signature: signature.bytes)
            }
        }

        private init(
            information: ArraySlice<UInt8>, subject: ASN1Node, subjectPublicKeyInfo: ArraySlice<UInt8>,
            signatureAlgorithm: ASN1ObjectIdentifier, signature: ArraySlice<UInt8>
        ) {
            self.information = information
            self.subject = subject
            self.subjectPublicKeyInfo = subjectPublicKeyInfo
            self.signatureAlgorithm = signatureAlgorithm
            self.signature = signature
        }
    }
}
