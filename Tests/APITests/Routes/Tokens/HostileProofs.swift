import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Tokens

/// A device that proves its key.
struct ProvingDevice: Sendable {
    let signer: ProviderSigner

    init(_ algorithm: SignatureAlgorithm) throws { signer = try ProviderSigner(algorithm) }

    /// The public key (RFC 7517).
    var webKey: JSONValue { get throws { try signer.verificationKey.publicKey.numbers.webKey } }

    /// A good proof before it is signed.
    func draft(_ now: Date) throws -> TokenDraft {
        var draft = TokenDraft(header: [
            JSONMember(name: "typ", value: .string("dpop+jwt")),
            JSONMember(name: "alg", value: .string(signer.algorithm.rawValue)),
            JSONMember(name: "jwk", value: try webKey),
        ])
        draft[claim: "jti"] = .string(UUID().uuidString)
        draft[claim: "htm"] = .string("POST")
        draft[claim: "htu"] = .string("https://client.example/token")
        draft[claim: "iat"] = .integer(Int64(now.timeIntervalSince1970))
        return draft
    }

    /// A good proof, changed before it is signed.
    func proof(_ now: Date, edit: (inout TokenDraft) throws -> Void = { _ in }) throws -> String {
        var draft = try draft(now)
        try edit(&draft)
        return try signer.sign(draft)
    }
}

/// Proofs of which none may be accepted.
struct HostileProofs {
    let what: String
    let reason: Refusal.Reason
    let proof: String

    static func all(_ device: ProvingDevice, _ other: ProvingDevice, _ now: Date) throws -> [HostileProofs] {
        try edited(device, now) + keys(device, other, now) + authenticated(device, now) + shapes(device, now)
    }

    private typealias Edit = (String, Refusal.Reason, (inout TokenDraft) -> Void)

    private static func header(_ name: String, _ reason: Refusal.Reason, _ values: [JSONValue?]) -> [Edit] {
        values.map { value in ("\(name) \(value?.jsonText ?? "missing")", reason, { $0[header: name] = value }) }
    }

    private static func claim(_ name: String, _ reason: Refusal.Reason, _ values: [JSONValue?]) -> [Edit] {
        values.map { value in ("\(name) \(value?.jsonText ?? "missing")", reason, { $0[claim: name] = value }) }
    }

    private static func texts(_ texts: [String]) -> [JSONValue?] { texts.map { .string($0) } }

    /// Header and claims with one defect, signed by the device.
    private static func edited(_ device: ProvingDevice, _ now: Date) throws -> [HostileProofs] {
        let seconds = Int64(now.timeIntervalSince1970)
        var edits: [Edit] = []
        edits += header(
            "alg", .algorithmMismatch,
            texts([
                "none", "None", "", "HS256", "HS384", "HS512", "RS256", "PS256", "ES384", "ES512", "ES256K", "EdDSA",
                "es256", "RSA-OAEP", "dir",
            ]))
        edits += header("alg", .malformed, [nil, .integer(1), .array([.string("ES256")])])
        edits += header("typ", .wrongType, [nil] + texts(["JWT", "JWS", "x/dpop+jwt", "at+jwt", "dpop"]))
        edits += header("crit", .unsupportedHeader, [.array([.string("jwk")]), .array([])])
        for name in ["b64", "zip"] {
            edits += header(name, .unsupportedHeader, [.string("https://evil.example")])
        }
        edits += claim("htm", .missingClaim, [nil])
        edits += claim("htm", .wrongAudience, texts(["GET", "post", "POST ", "PUT"]))
        edits += claim("htm", .malformed, [.integer(1), .string(""), .array([.string("POST")])])
        edits += claim("htu", .missingClaim, [nil])
        edits += claim(
            "htu", .wrongAudience,
            texts([
                "http://client.example/token", "https://public.example/token", "https://client.example/Token",
                "https://client.example/token/", "https://client.example/sessions", "https://client.example:8441/token",
                "https://user@client.example/token", "https://client.example.evil.example/token", "/token",
                "https://client.example", "https://client.example/token;a", "client.example/token", "?", "#",
                "https://client.example/%54oken", "https://client.example/token%2F", "https://client.example/token/.",
            ]))
        edits += claim("htu", .malformed, [.integer(1), .string(String(repeating: "a", count: 2049)), .null])
        edits += claim("iat", .missingClaim, [nil])
        edits += claim("iat", .notYetValid, [.integer(seconds + 61), .integer(seconds + 86_400)])
        edits += claim("iat", .expired, [.integer(seconds - 61), .integer(0)])
        edits += claim("iat", .malformed, [.string("\(seconds)"), .integer(seconds * 1000), .integer(-1)])
        edits += claim("jti", .missingClaim, [nil])
        edits += claim(
            "jti", .malformed,
            [.integer(1), .string(""), .string(String(repeating: "a", count: 129)), .string("a\u{0}")])
        return try edits.map { what, reason, edit in
            HostileProofs(what: what, reason: reason, proof: try device.proof(now, edit: edit))
        }
    }

    /// Keys that are no public key of the device.
    private static func keys(_ device: ProvingDevice, _ other: ProvingDevice, _ now: Date) throws -> [HostileProofs] {
        let (own, foreign) = (try device.webKey, try other.webKey)
        func adding(_ name: String, _ value: JSONValue) -> JSONValue {
            guard case .object(let members) = own else { return own }
            return .object(members.filter { $0.name != name } + [JSONMember(name: name, value: value)])
        }
        let x = own["x"]?.text ?? ""
        let keys: [(String, Refusal.Reason, JSONValue?)] = [
            ("no key", .malformed, nil), ("null", .malformed, .null), ("a text", .malformed, .string(x)),
            ("a list", .malformed, .array([own])), ("an empty object", .malformed, .object([])),
            ("a set", .malformed, adding("keys", .array([own]))),
            ("a private key", .privateKey, adding("d", .string(x))),
            ("a secret", .privateKey, .object(["kty": .string("oct"), "k": .string(x)])),
            ("a secret beside it", .privateKey, adding("k", .string(x))),
            ("kty oct", .unsupportedKey, .object(["kty": .string("oct")])),
            ("kty ec", .unsupportedKey, adding("kty", .string("ec"))),
            ("P-521", .unsupportedKey, adding("crv", .string("P-521"))),
            ("P-384", .malformed, adding("crv", .string("P-384"))),
            ("a short x", .malformed, adding("x", .string("AA"))),
            ("a padded x", .malformed, adding("x", .string(x + "="))),
            ("y as x", .malformed, adding("x", own["y"] ?? .null)),
            ("for encryption", .unsupportedKey, adding("use", .string("enc"))),
            ("to wrap keys", .unsupportedKey, adding("key_ops", .array([.string("wrapKey")]))),
            ("of another algorithm", .algorithmMismatch, adding("alg", .string("RS256"))),
            ("of another device", .unknownKey, foreign),
        ]
        var found = try keys.map { what, reason, key in
            HostileProofs(what: what, reason: reason, proof: try device.proof(now) { $0[header: "jwk"] = key })
        }
        found.append(
            HostileProofs(what: "another device's", reason: .unknownKey, proof: try other.proof(now)))
        found.append(
            HostileProofs(
                what: "its key and another's signature", reason: .badSignature,
                proof: try other.proof(now) { $0[header: "jwk"] = own }))
        let rsa = try ProvingDevice(.rs256)
        found.append(HostileProofs(what: "a key that nobody certified", reason: .unknownKey, proof: try rsa.proof(now)))
        return found
    }

    /// Proofs that a symmetric algorithm authenticates with what is public.
    private static func authenticated(_ device: ProvingDevice, _ now: Date) throws -> [HostileProofs] {
        let key = try device.signer.verificationKey
        let secrets: [[UInt8]] = [
            key.subjectPublicKeyInfo, Array(key.pem.utf8), Array(try device.webKey.jsonText.utf8), key.thumbprint, [],
        ]
        return try secrets.enumerated().map { index, secret in
            var draft = try device.draft(now)
            draft[header: "alg"] = .string("HS256")
            let parts = [JSONValue.object(draft.header), .object(draft.payload)]
            let input = parts.map { Base64URL.encode(Array($0.jsonText.utf8)) }.joined(separator: ".")
            let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: SymmetricKey(data: secret))
            return HostileProofs(
                what: "HMAC \(index)", reason: .algorithmMismatch, proof: input + "." + Base64URL.encode(Array(code)))
        }
    }

    /// Texts that are no compact JWS, or another one than was signed.
    private static func shapes(_ device: ProvingDevice, _ now: Date) throws -> [HostileProofs] {
        let good = try device.proof(now)
        let draft = try device.draft(now)
        let parts = good.split(separator: ".").map(String.init)
        let (header, payload, signature) = (parts[0], parts[1], parts[2])
        let raw = Base64URL.decode(signature) ?? []
        let der = try P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
        let headerText = JSONValue.object(draft.header).jsonText
        let payloadText = JSONValue.object(draft.payload).jsonText
        let twice = #"{"typ":"dpop+jwt","# + headerText.dropFirst()
        let nested = JSONValue.object(["jws": .string(good)]).jsonText
        let texts: [(String, Refusal.Reason, String)] = [
            ("empty", .malformed, ""), ("dots", .malformed, ".."), ("two parts", .malformed, "\(header).\(payload)"),
            ("four parts", .malformed, good + ".AA"), ("five parts", .malformed, "\(good).AA.AA"),
            ("two proofs in one field", .malformed, "\(good), \(good)"),
            ("no signature", .badSignature, "\(header).\(payload)."),
            ("padding", .malformed, good + "="),
            ("DER", .badSignature, "\(header).\(payload).\(Base64URL.encode(Array(der)))"),
            ("zeros", .badSignature, "\(header).\(payload).\(Base64URL.encode([UInt8](repeating: 0, count: 64)))"),
            ("half a signature", .badSignature, "\(header).\(payload).\(Base64URL.encode(Array(raw.prefix(32))))"),
            ("a header twice", .malformed, try device.signer.sign(headerText: twice, payloadText: payloadText)),
            (
                "a claim twice", .malformed,
                try device.signer.sign(
                    headerText: headerText, payloadText: #"{"htm":"POST","# + payloadText.dropFirst())
            ),
            ("a list", .malformed, try device.signer.sign(headerText: headerText, payloadText: "[]")),
            ("nothing", .missingClaim, try device.signer.sign(headerText: headerText, payloadText: "{}")),
            ("a proof in a proof", .missingClaim, try device.signer.sign(headerText: headerText, payloadText: nested)),
            (
                "another payload", .badSignature,
                "\(header).\(Base64URL.encode(Array(payloadText.utf8) + [0x20])).\(signature)"
            ),
            ("9,000 bytes", .malformed, String(repeating: "A", count: 9000)),
        ]
        return texts.map { HostileProofs(what: $0.0, reason: $0.1, proof: $0.2) }
    }
}
