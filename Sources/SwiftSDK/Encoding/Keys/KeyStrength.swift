/// Which public keys are too weak.
///
/// RSA: at least 2048 bits (NIST SP 800-57 part 1 §5.6.1), the usual exponent, not affected by CVE-2017-15361. More
/// than 4096 bits only cost time. Ed25519: with a point of small order, forged signatures verify.
extension PublicKey.Numbers {
    func requireStrength() throws(PublicKeyDefect) {
        switch self {
        case .rsa(let modulus, let exponent):
            try Self.require(exponent: exponent)
            try Self.require(modulus: modulus)
        case .ed25519(let key): try Self.require(point: key)
        case .p256, .p384: return
        }
    }

    private static func require(exponent: [UInt8]) throws(PublicKeyDefect) {
        guard exponent != [1] else {
            throw PublicKeyDefect(
                .weakKey,
                "The key's public exponent is 1, so anyone can sign for it. Make a key with exponent 65537.")
        }
        guard exponent == [1, 0, 1] else {
            throw PublicKeyDefect(.weakKey, "The key's public exponent is not 65537.")
        }
    }

    private static func require(modulus: [UInt8]) throws(PublicKeyDefect) {
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard bits >= 2048 else {
            throw PublicKeyDefect(.weakKey, "The RSA key has \(bits) bits: 2048 to 4096 are accepted.")
        }
        guard bits <= 4096 else {
            throw PublicKeyDefect(.unsupportedKey, "The RSA key has \(bits) bits: 2048 to 4096 are accepted.")
        }
        guard let last = modulus.last, last & 1 == 1 else {
            throw PublicKeyDefect(.weakKey, "The RSA key's modulus is even.")
        }
        guard !ROCA.isFingerprinted(modulus: modulus) else {
            throw PublicKeyDefect(
                .weakKey,
                "The RSA key was made by a chip whose keys can be factored (ROCA, CVE-2017-15361). Make another key.")
        }
    }

    private static func require(point: [UInt8]) throws(PublicKeyDefect) {
        var withoutSign = point
        if let last = withoutSign.indices.last { withoutSign[last] &= 0x7F }
        guard !smallOrderPoints.contains(withoutSign) else {
            throw PublicKeyDefect(
                .weakKey, "The Ed25519 key is a point of small order: it accepts forged signatures. Make another.")
        }
    }

    /// The y-coordinates of the points whose order divides 8, little-endian, including the unreduced encodings.
    private static let smallOrderPoints: [[UInt8]] = {
        let ones = [UInt8](repeating: 0xFF, count: 30)
        let zeros = [UInt8](repeating: 0, count: 31)
        return [
            [0] + zeros,
            [1] + zeros,
            [0xEC] + ones + [0x7F],
            [0xED] + ones + [0x7F],
            [0xEE] + ones + [0x7F],
            [
                0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
                0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
            ],
            [
                0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
                0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
            ],
        ]
    }()
}
