import Encoding

package extension PublicKey.Numbers {
    /// The members that a JWK of the key must have (RFC 7518 §6, Ed25519: RFC 8037 §2), by name: the text of RFC 7638.
    var webKey: JSONValue {
        func text(_ bytes: some Collection<UInt8>) -> JSONValue { .string(Base64URL.encode(Array(bytes))) }
        return switch self {
        case .rsa(let modulus, let exponent):
            .object(["e": text(exponent), "kty": .string("RSA"), "n": text(modulus)])
        case .p256(let point):
            .object([
                "crv": .string("P-256"), "kty": .string("EC"), "x": text(point.dropFirst().prefix(32)),
                "y": text(point.suffix(32)),
            ])
        case .p384(let point):
            .object([
                "crv": .string("P-384"), "kty": .string("EC"), "x": text(point.dropFirst().prefix(48)),
                "y": text(point.suffix(48)),
            ])
        case .ed25519(let point):
            .object(["crv": .string("Ed25519"), "kty": .string("OKP"), "x": text(point)])
        }
    }

    /// The SHA-256 thumbprint of the key as a JWK (RFC 7638 §3), base64url.
    var webKeyThumbprint: String { Digest256.of(webKey.jsonText).base64URL }
}
