import Encoding

/// The signature algorithms that a provider may register (RFC 7518 §3.1; EdDSA: RFC 8037 §3.1, Ed25519 only).
///
/// `none` and symmetric algorithms are excluded, so no token can choose a verification without the registered key.
package enum SignatureAlgorithm: RawRepresentable, Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256 and no parameters.
    case rs256
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes.
    case ps256
    /// ECDSA on P-256 with SHA-256.
    case es256
    /// ECDSA on P-384 with SHA-384.
    case es384
    /// Ed25519. Its newer name (RFC 9864 §2.2) is accepted and never written.
    case edDSA

    package var rawValue: String {
        switch self {
        case .rs256: "RS256"
        case .ps256: "PS256"
        case .es256: "ES256"
        case .es384: "ES384"
        case .edDSA: "EdDSA"
        }
    }

    package init?(rawValue: String) {
        let name = rawValue.hasSameBytes(as: "Ed25519") ? "EdDSA" : rawValue
        guard let algorithm = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) else { return nil }
        self = algorithm
    }
}
