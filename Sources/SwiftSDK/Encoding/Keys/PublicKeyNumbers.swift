import SwiftASN1

/// SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) of RSA (RFC 3279 §2.3.1), P-256 and P-384 (RFC 5480 §2.1) and Ed25519
/// (RFC 8410 §4).
extension PublicKey.Numbers {
    /// Longer encodings contain no supported key, bytes: RSA with 4096 bits has 550.
    private static let maximumLength = 2048

    static let malformed = PublicKeyDefect(
        .malformed, "The public key is not the DER form of a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7).")

    private typealias Parts = (algorithm: ASN1ObjectIdentifier, parameters: ASN1Node?, key: [UInt8])

    init(subjectPublicKeyInfo bytes: [UInt8]) throws(PublicKeyDefect) {
        guard bytes.count <= Self.maximumLength else {
            throw PublicKeyDefect(.unsupportedKey, "The public key is larger than any key that is accepted.")
        }
        let parts = try Self.parts(of: bytes)
        switch parts.algorithm {
        case .AlgorithmIdentifier.rsaEncryption: try self.init(pkcs1: parts.key)
        case .AlgorithmIdentifier.idEcPublicKey: try self.init(curve: parts.parameters, point: parts.key)
        case Self.ed25519Identifier:
            guard parts.key.count == 32 else { throw Self.malformed }
            self = .ed25519(parts.key)
        case .AlgorithmIdentifier.rsaPSS:
            throw PublicKeyDefect(
                .unsupportedKey,
                "The key is of type RSASSA-PSS. Send it as rsaEncryption (RFC 8017 §A.1) with the algorithm PS256."
            )
        default:
            throw PublicKeyDefect(
                .unsupportedKey, "The key's type is not supported. Use RSA, P-256, P-384 or Ed25519.")
        }
    }

    /// Parses an RSAPublicKey (RFC 8017 §A.1.1).
    init(pkcs1 bytes: [UInt8]) throws(PublicKeyDefect) {
        do {
            let (modulus, exponent) = try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
                (try ArraySlice<UInt8>(derEncoded: &nodes), try ArraySlice<UInt8>(derEncoded: &nodes))
            }
            self = .rsa(modulus: Array(modulus), exponent: Array(exponent))
        } catch {
            throw PublicKeyDefect(.malformed, "The RSA key is not an RSAPublicKey (RFC 8017 §A.1.1).")
        }
    }

    private init(curve node: ASN1Node?, point: [UInt8]) throws(PublicKeyDefect) {
        // RFC 5480 §2.1.1: a named curve; explicit parameters must not be used.
        guard let node, let curve = try? ASN1ObjectIdentifier(derEncoded: node) else {
            throw PublicKeyDefect(.unsupportedKey, "Name the elliptic curve by its object identifier (RFC 5480).")
        }
        let size: Int
        switch curve {
        case .NamedCurves.secp256r1: (self, size) = (.p256(point: point), 65)
        case .NamedCurves.secp384r1: (self, size) = (.p384(point: point), 97)
        default:
            throw PublicKeyDefect(.unsupportedKey, "The key's curve is not supported. Use P-256 or P-384.")
        }
        guard point.first == 0x04 else {
            throw PublicKeyDefect(.unsupportedKey, "The point of the key must be written uncompressed (RFC 5480 §2.2).")
        }
        guard point.count == size else {
            throw PublicKeyDefect(.malformed, "The point of the key must have \(size) bytes (SEC 1 §2.3.3).")
        }
    }

    private static func parts(of bytes: [UInt8]) throws(PublicKeyDefect) -> Parts {
        do {
            return try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
                guard let algorithm = nodes.next() else { throw Self.malformed }
                let (identifier, parameters) = try DER.sequence(algorithm, identifier: .sequence) { nodes in
                    let parts = (try ASN1ObjectIdentifier(derEncoded: &nodes), nodes.next())
                    // Trailing elements are detected later: the key encoded again would differ.
                    while nodes.next() != nil {}
                    return parts
                }
                let key = try ASN1BitString(derEncoded: &nodes)
                guard key.paddingBits == 0 else { throw Self.malformed }
                return (identifier, parameters, Array(key.bytes))
            }
        } catch {
            throw malformed
        }
    }

    private static let ed25519Identifier: ASN1ObjectIdentifier = [1, 3, 101, 112]

    /// Encodes the canonical form, of which thumbprints are made.
    func subjectPublicKeyInfo() throws -> [UInt8] {
        var document = DER.Serializer()
        try document.appendConstructedNode(identifier: .sequence) { fields in
            try fields.appendConstructedNode(identifier: .sequence) { algorithm in
                switch self {
                case .rsa:
                    try algorithm.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.rsaEncryption)
                    try algorithm.serialize(ASN1Null())
                case .p256:
                    try algorithm.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.idEcPublicKey)
                    try algorithm.serialize(ASN1ObjectIdentifier.NamedCurves.secp256r1)
                case .p384:
                    try algorithm.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.idEcPublicKey)
                    try algorithm.serialize(ASN1ObjectIdentifier.NamedCurves.secp384r1)
                case .ed25519: try algorithm.serialize(Self.ed25519Identifier)
                }
            }
            try fields.serialize(ASN1BitString(bytes: try keyBytes()[...]))
        }
        return document.serializedBytes
    }

    private func keyBytes() throws -> [UInt8] {
        switch self {
        case .rsa(let modulus, let exponent):
            var key = DER.Serializer()
            try key.appendConstructedNode(identifier: .sequence) { numbers in
                try numbers.serialize(modulus[...])
                try numbers.serialize(exponent[...])
            }
            return key.serializedBytes
        case .p256(let bytes), .p384(let bytes), .ed25519(let bytes): return bytes
        }
    }
}
