import Crypto
import CryptoExtras
import SwiftASN1

/// A valid public key of a device or a provider: RSA, P-256, P-384 or Ed25519, strong enough, and a point of its
/// curve.
///
/// Every accepted form of a key is parsed into this type, and only one encoding of each key is accepted. Two
/// encodings would have two thumbprints, and a used or revoked key could return under the other.
public struct PublicKey: Sendable {
    public let key: Key
    public let numbers: Numbers
    /// The DER SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), in its one canonical form.
    public let subjectPublicKeyInfo: [UInt8]
    /// SHA-256 of ``subjectPublicKeyInfo``, 32 bytes, by which a key is identified.
    public let thumbprint: [UInt8]

    /// Validates the numbers and the strength of a key.
    public init(_ numbers: Numbers) throws(PublicKeyDefect) {
        try numbers.requireStrength()
        self.numbers = numbers
        do {
            key =
                switch numbers {
                case .rsa(let modulus, let exponent): .rsa(try _RSA.Signing.PublicKey(n: modulus, e: exponent))
                case .p256(let point): .p256(try P256.Signing.PublicKey(x963Representation: point))
                case .p384(let point): .p384(try P384.Signing.PublicKey(x963Representation: point))
                case .ed25519(let point): .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: point))
                }
            subjectPublicKeyInfo = try numbers.subjectPublicKeyInfo()
        } catch {
            throw PublicKeyDefect(.malformed, "The numbers in the key are not those of a public key.")
        }
        thumbprint = Array(SHA256.hash(data: subjectPublicKeyInfo))
    }
}

public extension PublicKey {
    /// The numbers of a key, not validated yet.
    enum Numbers: Sendable, Equatable {
        /// Big-endian, without leading zeros (RFC 8017 §3.1).
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// An uncompressed point, 65 bytes (SEC 1 §2.3.3).
        case p256(point: [UInt8])
        /// An uncompressed point, 97 bytes.
        case p384(point: [UInt8])
        /// The 32 bytes of RFC 8032 §5.1.5.
        case ed25519([UInt8])
    }

    /// The key as the cryptography library takes it.
    enum Key: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    /// Parses a DER SubjectPublicKeyInfo and validates its key.
    init(subjectPublicKeyInfo bytes: [UInt8]) throws(PublicKeyDefect) {
        try self.init(Numbers(subjectPublicKeyInfo: bytes))
        guard subjectPublicKeyInfo == bytes else { throw Numbers.malformed }
    }

    /// Parses a PEM text (RFC 7468) with one `PUBLIC KEY` (§13) or the older `RSA PUBLIC KEY` (RFC 8017 §A.1.1).
    init(pem text: String) throws(PublicKeyDefect) {
        let document: PEM
        do throws(PEM.Defect) {
            document = try PEM(text)
        } catch {
            throw PublicKeyDefect(error, in: text)
        }
        switch document.label {
        case "PUBLIC KEY": try self.init(subjectPublicKeyInfo: document.bytes)
        case "RSA PUBLIC KEY": try self.init(Numbers(pkcs1: document.bytes))
        case let label where label.contains("CERTIFICATE"):
            throw PublicKeyDefect(
                .malformed,
                "This is a certificate or a request for one, not a public key. Extract the key with"
                    + " openssl x509 (or req) -noout -pubkey.")
        default:
            throw PublicKeyDefect(.malformed, "The PEM block is neither a PUBLIC KEY nor an RSA PUBLIC KEY.")
        }
    }

    /// The key as PEM (RFC 7468 §13). This is stored instead of the received text, which may contain anything around
    /// the key.
    var pem: String { PEM.encode(subjectPublicKeyInfo, label: "PUBLIC KEY") }
}

extension PublicKey: Hashable {
    /// Equal keys have equal encodings.
    public static func == (left: PublicKey, right: PublicKey) -> Bool {
        left.subjectPublicKeyInfo == right.subjectPublicKeyInfo
    }

    /// A thumbprint is uniform, so it is enough for the hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(thumbprint) }
}
