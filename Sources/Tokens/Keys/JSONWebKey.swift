import Domain
import Encoding

package extension VerificationKey {
    /// Takes a public JWK (RFC 7517 §4; RSA, P-256, P-384: RFC 7518 §6; Ed25519: RFC 8037 §2).
    ///
    /// - Parameter algorithm: if `nil`, the key's own `alg`, or else the default of its type.
    /// - Throws: `Refusal` `invalid_provider_key` with reason `private_key` if a private part is in it, otherwise
    ///   `malformed`, `weak_key` or `unsupported_key`.
    init(jwk: JSONValue, algorithm: SignatureAlgorithm? = nil) throws(Refusal) {
        do throws(PublicKeyDefect) {
            let numbers = try JSONWebKey.numbers(of: jwk)
            let named = try JSONWebKey.algorithm(of: jwk)
            try self.init(PublicKey(numbers), algorithm: algorithm ?? named)
        } catch {
            throw error.refusal(.invalidProviderKey)
        }
    }
}

/// Reads the public half of a JWK.
enum JSONWebKey {
    /// The members that only private and symmetric keys have (RFC 7518 §6.2.2, §6.3.2, §6.4.1).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    static func numbers(of jwk: JSONValue) throws(PublicKeyDefect) -> PublicKey.Numbers {
        guard case .object = jwk else { throw PublicKeyDefect(.malformed, "The JWK is not a JSON object.") }
        guard privateMembers.allSatisfy({ jwk[$0] == nil }) else { throw PublicKeyDefect.leaked }
        guard jwk["keys"] == nil else {
            throw PublicKeyDefect(.malformed, "This is a set of keys (JWKS). Send one key of it.")
        }
        guard let type = jwk["kty"]?.text else { throw PublicKeyDefect(.malformed, "The JWK has no kty.") }
        guard jwk["use"].map({ $0.text == "sig" }) ?? true else {
            throw PublicKeyDefect(.unsupportedKey, "The JWK's use is not sig.")
        }
        if let operations = jwk["key_ops"] { try require(operations) }
        switch (type, jwk["crv"]?.text) {
        case ("RSA", _):
            let modulus = try integer("n", of: jwk)
            return .rsa(modulus: modulus, exponent: try integer("e", of: jwk))
        case ("EC", "P-256"):
            let x = try octets("x", of: jwk, count: 32)
            return .p256(point: [4] + x + (try octets("y", of: jwk, count: 32)))
        case ("EC", "P-384"):
            let x = try octets("x", of: jwk, count: 48)
            return .p384(point: [4] + x + (try octets("y", of: jwk, count: 48)))
        case ("OKP", "Ed25519"): return .ed25519(try octets("x", of: jwk, count: 32))
        default:
            throw PublicKeyDefect(
                .unsupportedKey, "The JWK's type is not supported. Use RSA, P-256, P-384 or Ed25519.")
        }
    }

    /// `key_ops` (RFC 7517 §4.3) must include `verify`, and otherwise only `sign`: a key that also encrypts or wraps is
    /// another kind of key.
    private static func require(_ operations: JSONValue) throws(PublicKeyDefect) {
        guard case .array(let values) = operations, !values.isEmpty else {
            throw PublicKeyDefect(.malformed, "The JWK's key_ops is not an array of strings.")
        }
        let names = values.compactMap(\.text)
        guard names.count == values.count, Set(names).count == names.count else {
            throw PublicKeyDefect(.malformed, "The JWK's key_ops contains a string twice.")
        }
        guard names.contains("verify"), names.allSatisfy(["sign", "verify"].contains) else {
            throw PublicKeyDefect(.unsupportedKey, "The JWK's key_ops is not for signatures. It must be verify.")
        }
    }

    static func algorithm(of jwk: JSONValue) throws(PublicKeyDefect) -> SignatureAlgorithm? {
        guard let member = jwk["alg"] else { return nil }
        guard let algorithm = member.text.flatMap(SignatureAlgorithm.init) else {
            let names = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw PublicKeyDefect(.unsupportedKey, "The JWK's alg must be one of \(names).")
        }
        return algorithm
    }

    /// A Base64urlUInt (RFC 7518 §2): big-endian, no leading zeros.
    private static func integer(_ name: String, of jwk: JSONValue) throws(PublicKeyDefect) -> [UInt8] {
        let digits = try decode(name, of: jwk)
        guard digits.first.map({ $0 != 0 }) ?? false else {
            throw PublicKeyDefect(.malformed, "The JWK's \(name) is empty or begins with a zero.")
        }
        return digits
    }

    private static func octets(_ name: String, of jwk: JSONValue, count: Int) throws(PublicKeyDefect) -> [UInt8] {
        let bytes = try decode(name, of: jwk)
        guard bytes.count == count else {
            throw PublicKeyDefect(.malformed, "The JWK's \(name) must have \(count) bytes.")
        }
        return bytes
    }

    private static func decode(_ name: String, of jwk: JSONValue) throws(PublicKeyDefect) -> [UInt8] {
        guard let text = jwk[name]?.text, text.utf8.count <= 4096, let bytes = Base64URL.decode(text) else {
            throw PublicKeyDefect(.malformed, "The JWK has no \(name), or it is not canonical base64url.")
        }
        return bytes
    }
}
