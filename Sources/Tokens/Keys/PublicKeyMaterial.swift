/// The numbers of a public key, as its SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) holds them.
///
/// Every form in which a key may be shown comes through here, and only one encoding of each key is taken: two texts of
/// one key would have two thumbprints, and a used or revoked key could come back under the other.
enum PublicKeyMaterial: Equatable {
    /// Big-endian, without leading zeros (RFC 8017 §3.1).
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// An uncompressed point, 65 bytes (SEC 1 §2.3.3).
    case p256(point: [UInt8])
    /// An uncompressed point, 97 bytes.
    case p384(point: [UInt8])
    /// The 32 bytes of RFC 8032 §5.1.5.
    case ed25519([UInt8])

    private enum ObjectIdentifier {
        static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
        static let rsassaPSS: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]
        static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        static let prime256v1: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        static let secp384r1: [UInt8] = [0x2B, 0x81, 0x04, 0x00, 0x22]
        static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    }

    /// A SubjectPublicKeyInfo longer than this holds no key that is supported: RSA with 4096 bits has 550 bytes.
    private static let maximumLength = 2048

    /// Reads a DER SubjectPublicKeyInfo.
    init(subjectPublicKeyInfo bytes: [UInt8]) throws(KeyDefect) {
        let malformed = KeyDefect(
            .malformed, "The public key is not the DER form of a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7).")
        guard bytes.count <= Self.maximumLength else {
            throw KeyDefect(.malformed, "The public key is longer than \(Self.maximumLength) bytes.")
        }
        var document = DER.Reader(bytes)
        guard let outer = document.read(DER.sequence), document.isAtEnd else { throw malformed }
        var fields = DER.Reader(outer)
        guard let algorithm = fields.read(DER.sequence),
            let bits = fields.read(DER.bitString), fields.isAtEnd, bits.first == 0
        else { throw malformed }
        var parameters = DER.Reader(algorithm)
        guard let identifier = parameters.read(DER.objectIdentifier) else { throw malformed }
        let key = Array(bits.dropFirst())

        switch Array(identifier) {
        case ObjectIdentifier.rsaEncryption: try self.init(pkcs1: key)
        case ObjectIdentifier.ecPublicKey:
            guard let curve = parameters.read(DER.objectIdentifier) else { throw malformed }
            try self.init(curve: Array(curve), point: key)
        case ObjectIdentifier.ed25519:
            guard key.count == 32 else { throw malformed }
            self = .ed25519(key)
        case ObjectIdentifier.rsassaPSS:
            throw KeyDefect(
                .unsupportedKey,
                "The key is of type RSASSA-PSS: give it as rsaEncryption (RFC 8017 §A.1) and name PS256 as its algorithm."
            )
        default:
            throw KeyDefect(.unsupportedKey, "The key is of no supported type: RSA, P-256, P-384 and Ed25519 are.")
        }
        guard subjectPublicKeyInfo == bytes else { throw malformed }
    }

    /// Reads an RSAPublicKey (RFC 8017 §A.1.1).
    init(pkcs1 bytes: [UInt8]) throws(KeyDefect) {
        var document = DER.Reader(bytes)
        guard let sequence = document.read(DER.sequence), document.isAtEnd else {
            throw KeyDefect(.malformed, "The RSA key is not an RSAPublicKey (RFC 8017 §A.1.1).")
        }
        var numbers = DER.Reader(sequence)
        guard let modulus = numbers.readUnsigned(), let exponent = numbers.readUnsigned(), numbers.isAtEnd else {
            throw KeyDefect(.malformed, "The RSA key is not an RSAPublicKey (RFC 8017 §A.1.1).")
        }
        self = .rsa(modulus: modulus, exponent: exponent)
    }

    private init(curve: [UInt8], point: [UInt8]) throws(KeyDefect) {
        let size: Int
        switch curve {
        case ObjectIdentifier.prime256v1:
            self = .p256(point: point)
            size = 65
        case ObjectIdentifier.secp384r1:
            self = .p384(point: point)
            size = 97
        default: throw KeyDefect(.unsupportedKey, "The key lies on no supported curve: P-256 and P-384 are.")
        }
        guard point.count == size, point.first == 4 else {
            throw KeyDefect(.malformed, "The point of the key is not in its uncompressed form (SEC 1 §2.3.3).")
        }
    }

    /// The DER form, the one that thumbprints are made of.
    var subjectPublicKeyInfo: [UInt8] {
        let (algorithm, key): ([UInt8], [UInt8]) =
            switch self {
            case .rsa(let modulus, let exponent):
                (
                    DER.encode(DER.objectIdentifier, ObjectIdentifier.rsaEncryption) + DER.encode(DER.null, []),
                    DER.encode(DER.sequence, DER.encodeUnsigned(modulus) + DER.encodeUnsigned(exponent))
                )
            case .p256(let point): (Self.ellipticCurve(ObjectIdentifier.prime256v1), point)
            case .p384(let point): (Self.ellipticCurve(ObjectIdentifier.secp384r1), point)
            case .ed25519(let key): (DER.encode(DER.objectIdentifier, ObjectIdentifier.ed25519), key)
            }
        return DER.encode(DER.sequence, DER.encode(DER.sequence, algorithm) + DER.encode(DER.bitString, [0] + key))
    }

    private static func ellipticCurve(_ curve: [UInt8]) -> [UInt8] {
        return DER.encode(DER.objectIdentifier, ObjectIdentifier.ecPublicKey) + DER.encode(DER.objectIdentifier, curve)
    }

    /// The algorithms that the key can be used with, the usual one first.
    var algorithms: [SignatureAlgorithm] {
        switch self {
        case .rsa: [.rs256, .ps256]
        case .p256: [.es256]
        case .p384: [.es384]
        case .ed25519: [.edDSA]
        }
    }
}
