import Crypto

/// The key derivation of ECDH-ES in JWE (RFC 7518 §4.6.2, NIST SP 800-56A §5.8.1). The X9.63 function of the cryptography
/// library hashes the counter after the secret, and gives other keys.
enum ConcatKDF {
    /// Derives the key of an encryption algorithm directly, in one round of SHA-256.
    ///
    /// - Parameters:
    ///   - apu: the decoded `apu`; empty if the header has none.
    ///   - apv: the decoded `apv`; empty if the header has none.
    static func key(
        from secret: SharedSecret, for algorithm: ContentEncryption, apu: [UInt8], apv: [UInt8]
    ) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: number(1))
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        for part in [Array(algorithm.rawValue.utf8), apu, apv] {
            hash.update(data: number(part.count))
            hash.update(data: part)
        }
        hash.update(data: number(algorithm.keyLength * 8))
        return SymmetricKey(data: Array(hash.finalize()).prefix(algorithm.keyLength))
    }

    /// 32 bits, the highest byte first.
    private static func number(_ value: Int) -> [UInt8] {
        let word = UInt32(clamping: value)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
}

/// The content encryption that requests offer (RFC 7518 §5.3).
enum ContentEncryption: String, Sendable, CaseIterable {
    case a128GCM = "A128GCM"
    case a256GCM = "A256GCM"

    /// The length of the key in bytes.
    var keyLength: Int {
        switch self {
        case .a128GCM: 16
        case .a256GCM: 32
        }
    }
}
