/// The signature algorithms that a provider may register (RFC 7518 §3.1; EdDSA: RFC 8037 §3.1, Ed25519 only).
///
/// `none` and symmetric algorithms are excluded, so no token can choose a verification without the registered key.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes.
    case ps256 = "PS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// ECDSA on P-384 with SHA-384.
    case es384 = "ES384"
    case edDSA = "EdDSA"
}
