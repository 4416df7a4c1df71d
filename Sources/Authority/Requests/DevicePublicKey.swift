import Crypto
import CryptoExtras
import Domain
import Foundation
import SwiftASN1
import X509

/// A public key that may be certified: RSA of 2048 to 4096 bits with exponent 65537, P-256 or P-384, and not made by a
/// generator that is known to be broken.
package struct DevicePublicKey: Sendable, Hashable {
    /// The key as SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) in DER, written anew: one key has one form.
    package let subjectPublicKeyInfo: [UInt8]
    /// SHA-256 of ``subjectPublicKeyInfo``: the name under which a used or revoked key is remembered.
    package let keyHash: [UInt8]
    let certificateKey: Certificate.PublicKey

    /// More bytes than the largest admissible key needs.
    static let maximumLength = 1024

    /// Reads a SubjectPublicKeyInfo in DER.
    ///
    /// - Throws: `invalid_csr` with reason `malformed`, `weak_key` or `unsupported_key`.
    package init(subjectPublicKeyInfo bytes: [UInt8]) throws(Refusal) {
        guard bytes.count <= Self.maximumLength else {
            throw Refusal.csr("unsupported_key", "The public key is larger than any key that is accepted.")
        }
        let key: Certificate.PublicKey
        switch try Self.parts(of: bytes) {
        case (.AlgorithmIdentifier.idEcPublicKey, let parameters, let point):
            key = try Self.ellipticCurveKey(parameters: parameters, point: point)
        case (.AlgorithmIdentifier.rsaEncryption, let parameters, let publicKey):
            guard let parameters, parameters.identifier == .null else {
                throw Refusal.csr("malformed", "The parameters of an RSA key must be NULL (RFC 3279 §2.3.1).")
            }
            key = try Self.rsaKey(pkcs1: Array(publicKey))
        default:
            throw Refusal.csr("unsupported_key", "Keys are RSA, P-256 or P-384.")
        }
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(key)) != nil else {
            throw Refusal.csr("malformed", "The public key cannot be written as SubjectPublicKeyInfo.")
        }
        certificateKey = key
        subjectPublicKeyInfo = serializer.serializedBytes
        keyHash = Array(SHA256.hash(data: serializer.serializedBytes))
    }

    /// Two keys are the same when their canonical forms are.
    package static func == (left: DevicePublicKey, right: DevicePublicKey) -> Bool {
        left.subjectPublicKeyInfo == right.subjectPublicKeyInfo
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(keyHash)
    }

    private typealias Parts = (algorithm: ASN1ObjectIdentifier, parameters: ASN1Node?, key: ArraySlice<UInt8>)

    private static func parts(of bytes: [UInt8]) throws(Refusal) -> Parts {
        do {
            return try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
                guard let algorithmNode = nodes.next() else { throw ASN1Error.truncatedASN1Field() }
                let (algorithm, parameters) = try DER.sequence(algorithmNode, identifier: .sequence) { nodes in
                    (try ASN1ObjectIdentifier(derEncoded: &nodes), nodes.next())
                }
                let key = try ASN1BitString(derEncoded: &nodes)
                guard key.paddingBits == 0 else { throw ASN1Error.invalidASN1Object(reason: "unused bits in a key") }
                return (algorithm, parameters, key.bytes)
            }
        } catch {
            throw Refusal.csr("malformed", "The public key is not a SubjectPublicKeyInfo in DER (RFC 5280 §4.1).")
        }
    }

    private static func ellipticCurveKey(
        parameters: ASN1Node?, point: ArraySlice<UInt8>
    ) throws(Refusal) -> Certificate.PublicKey {
        // RFC 5480 §2.1.1: a named curve; explicit parameters must not be used.
        guard let parameters, let curve = try? ASN1ObjectIdentifier(derEncoded: parameters) else {
            throw Refusal.csr("unsupported_key", "An elliptic curve is named by its object identifier (RFC 5480).")
        }
        guard curve == .NamedCurves.secp256r1 || curve == .NamedCurves.secp384r1 else {
            throw Refusal.csr("unsupported_key", "The curves are P-256 and P-384.")
        }
        guard point.first == 0x04 else {
            throw Refusal.csr("unsupported_key", "The point of the key must be written uncompressed (RFC 5480 §2.2).")
        }
        do {
            return curve == .NamedCurves.secp256r1
                ? Certificate.PublicKey(try P256.Signing.PublicKey(x963Representation: point))
                : Certificate.PublicKey(try P384.Signing.PublicKey(x963Representation: point))
        } catch {
            throw Refusal.csr("malformed", "The point of the key is not on its curve.")
        }
    }

    private static func rsaKey(pkcs1: [UInt8]) throws(Refusal) -> Certificate.PublicKey {
        let modulus: ArraySlice<UInt8>
        let exponent: ArraySlice<UInt8>
        do {
            (modulus, exponent) = try DER.sequence(try DER.parse(pkcs1), identifier: .sequence) { nodes in
                (try ArraySlice<UInt8>(derEncoded: &nodes), try ArraySlice<UInt8>(derEncoded: &nodes))
            }
        } catch {
            throw Refusal.csr("malformed", "The RSA key is not an RSAPublicKey in DER (RFC 8017 §A.1.1).")
        }
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard bits >= 2048 else { throw Refusal.csr("weak_key", "An RSA key has at least 2048 bits.") }
        guard bits <= 4096 else { throw Refusal.csr("unsupported_key", "An RSA key has at most 4096 bits.") }
        guard exponent.elementsEqual([0x01, 0x00, 0x01]) else {
            throw Refusal.csr("weak_key", "The public exponent of an RSA key is 65537.")
        }
        guard !ROCA.isFingerprinted(modulus: Array(modulus)) else {
            throw Refusal.csr("weak_key", "This RSA key was made by a broken generator (CVE-2017-15361).")
        }
        // An even modulus and the like.
        guard let key = try? _RSA.Signing.PublicKey(derRepresentation: pkcs1) else {
            throw Refusal.csr("weak_key", "The RSA modulus is not the product of two large primes.")
        }
        return Certificate.PublicKey(key)
    }
}

extension Refusal {
    /// A request that is refused, with the contract's reason.
    static func csr(_ reason: String, _ detail: String) -> Refusal {
        Refusal(.invalidCSR, detail, reason: reason)
    }
}
