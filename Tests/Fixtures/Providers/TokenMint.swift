import Crypto
import CryptoExtras
import Domain
import Encoding
import Foundation
import Tokens

/// A provider's backend, as far as its tokens go: a private key made for the test, and what it signs.
package struct ProviderSigner: Sendable {
    /// The algorithm that it signs with.
    package let algorithm: SignatureAlgorithm
    /// The public key to register, PEM.
    package let publicKeyPEM: String
    private let key: Key

    private enum Key: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// Makes a new key. RSA takes its time: share a signer between tests.
    package init(_ algorithm: SignatureAlgorithm) throws {
        self.algorithm = algorithm
        switch algorithm {
        case .rs256, .ps256:
            let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            key = .rsa(rsa)
            publicKeyPEM = rsa.publicKey.pemRepresentation
        case .es256:
            let p256 = P256.Signing.PrivateKey()
            key = .p256(p256)
            publicKeyPEM = p256.publicKey.pemRepresentation
        case .es384:
            let p384 = P384.Signing.PrivateKey()
            key = .p384(p384)
            publicKeyPEM = p384.publicKey.pemRepresentation
        case .edDSA:
            let ed25519 = Curve25519.Signing.PrivateKey()
            key = .ed25519(ed25519)
            // RFC 8410 §4: a fixed beginning, then the 32 bytes.
            let start: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
            let base64 = Data(start + ed25519.publicKey.rawRepresentation).base64EncodedString()
            publicKeyPEM = "-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n"
        }
    }

    /// The public key, read as registration reads it.
    package var verificationKey: VerificationKey {
        get throws { try VerificationKey(pem: publicKeyPEM, algorithm: algorithm) }
    }

    /// The public key as registered for a provider.
    package func registered(
        as id: ProviderKeyID, for provider: ProviderID, retired: Bool = false
    ) throws -> RegisteredKey {
        RegisteredKey(id: id, providerID: provider, verificationKey: try verificationKey, retired: retired)
    }

    /// Signs bytes: the raw form of RFC 7518 §3.
    package func signature(over message: [UInt8]) throws -> [UInt8] {
        switch key {
        case .rsa(let key):
            let padding: _RSA.Signing.Padding = algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
            return Array(try key.signature(for: SHA256.hash(data: message), padding: padding).rawRepresentation)
        case .p256(let key): return Array(try key.signature(for: message).rawRepresentation)
        case .p384(let key): return Array(try key.signature(for: message).rawRepresentation)
        case .ed25519(let key): return Array(try key.signature(for: message))
        }
    }

    /// Signs two texts, JSON or not, into a compact JWS (RFC 7515 §7.1).
    package func sign(headerText: String, payloadText: String) throws -> String {
        let input = Base64URL.encode(Array(headerText.utf8)) + "." + Base64URL.encode(Array(payloadText.utf8))
        return input + "." + Base64URL.encode(try signature(over: Array(input.utf8)))
    }

    /// Signs a header and a payload.
    package func sign(header: JSONValue, payload: JSONValue) throws -> String {
        try sign(headerText: header.jsonText, payloadText: payload.jsonText)
    }

    package func sign(_ draft: TokenDraft) throws -> String {
        try sign(header: .object(draft.header), payload: .object(draft.payload))
    }

    /// A good identity token, changed by `edit` before it is signed.
    package func identityToken(
        provider: ProviderID, kid: ProviderKeyID, externalID: String, nonce: String, now: Date,
        lifetime: Int64 = 300, edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        var draft = TokenDraft(contentType: "layer-eit;v=1", algorithm: algorithm, kid: kid)
        draft[claim: "iss"] = .string(provider.description)
        draft[claim: "prn"] = .string(externalID)
        draft[claim: "nce"] = .string(nonce)
        draft.lives(from: now, for: lifetime)
        edit(&draft)
        return try sign(draft)
    }

    /// A good provider token, changed by `edit` before it is signed.
    package func providerToken(
        provider: ProviderID, kid: ProviderKeyID, realm: String, now: Date, lifetime: Int64 = 3600,
        edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        var draft = TokenDraft(contentType: "layer-provider;v=1", algorithm: algorithm, kid: kid)
        draft[claim: "iss"] = .string(provider.description)
        draft[claim: "aud"] = .string(realm)
        draft.lives(from: now, for: lifetime)
        edit(&draft)
        return try sign(draft)
    }

    /// A good client assertion (RFC 7523 §2.2), changed by `edit` before it is signed.
    package func clientAssertion(
        provider: ProviderID, kid: ProviderKeyID, audience: String, now: Date, lifetime: Int64 = 300,
        edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        var draft = TokenDraft(header: [
            JSONMember(name: "typ", value: .string("JWT")), JSONMember(name: "alg", value: .string(algorithm.rawValue)),
            JSONMember(name: "kid", value: .string(kid.description)),
        ])
        for name in ["iss", "sub"] { draft[claim: name] = .string(provider.description) }
        draft[claim: "aud"] = .string(audience)
        draft[claim: "jti"] = .string(UUID().uuidString)
        draft.lives(from: now, for: lifetime)
        edit(&draft)
        return try sign(draft)
    }

    /// A good provider token for one call that changes something.
    package func freshProviderToken(
        provider: ProviderID, kid: ProviderKeyID, realm: String, identifier: String, request: ProvenRequest, now: Date,
        edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        try providerToken(provider: provider, kid: kid, realm: realm, now: now, lifetime: 60) { draft in
            draft[claim: "jti"] = .string(identifier)
            draft[claim: "htm"] = .string(request.method)
            draft[claim: "htu"] = .string("https://service.example\(request.path)")
            draft[claim: "body_sha256"] = .string(Base64URL.encode(Array(SHA256.hash(data: request.body))))
            edit(&draft)
        }
    }

    package func enrolmentToken(
        provider: ProviderID, kid: ProviderKeyID, realm: String, identifier: String, now: Date,
        edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        try providerToken(provider: provider, kid: kid, realm: realm, now: now, lifetime: 600) { draft in
            draft[header: "cty"] = .string("layer-enrolment;v=1")
            draft[claim: "jti"] = .string(identifier)
            edit(&draft)
        }
    }

    /// A good proof that this key's owner holds it.
    package func possessionProof(
        provider: ProviderID, now: Date, edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        var draft = TokenDraft(header: [JSONMember(name: "alg", value: .string(algorithm.rawValue))])
        draft[claim: "iss"] = .string(provider.description)
        draft.lives(from: now, for: 300)
        edit(&draft)
        return try sign(draft)
    }

    /// A good Layer CSR for this key, which plays the device here: RS256 or ES256.
    package func layerCSR(
        deviceID: String?, userAgent: String = "TokenMint/1", edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> String {
        var draft = TokenDraft(contentType: "layer-csr;v=1", algorithm: algorithm, kid: nil)
        draft[claim: "uat"] = .string(userAgent)
        draft[claim: "prn"] = deviceID.map { .string($0) }
        draft[claim: "pka"] = .string(algorithm == .es256 ? "EC" : "RSA")
        let key = try verificationKey.subjectPublicKeyInfo
        draft[claim: "pky"] = .string(Data(key).base64EncodedString())
        edit(&draft)
        return try sign(draft)
    }
}

/// A header and a payload before they are signed, to be bent by tests.
package struct TokenDraft: Sendable {
    /// The header's members in order.
    package var header: [JSONMember]
    /// The payload's members in order.
    package var payload: [JSONMember] = []

    /// Begins with a header and no claims.
    package init(header: [JSONMember]) {
        self.header = header
    }

    /// Begins with the header of one of the contract's tokens.
    package init(contentType: String, algorithm: SignatureAlgorithm, kid: ProviderKeyID?) {
        header = []
        self[header: "typ"] = .string("JWS")
        self[header: "cty"] = .string(contentType)
        self[header: "alg"] = .string(algorithm.rawValue)
        self[header: "kid"] = kid.map { .string($0.description) }
    }

    /// A claim; setting `nil` takes it out.
    package subscript(claim name: String) -> JSONValue? {
        get { JSONValue.object(payload)[name] }
        set { Self.set(name, newValue, in: &payload) }
    }

    /// A header parameter; setting `nil` takes it out.
    package subscript(header name: String) -> JSONValue? {
        get { JSONValue.object(header)[name] }
        set { Self.set(name, newValue, in: &header) }
    }

    /// Sets `iat` and `exp`.
    package mutating func lives(from start: Date, for seconds: Int64) {
        let issuedAt = Int64(start.timeIntervalSince1970)
        self[claim: "iat"] = .integer(issuedAt)
        self[claim: "exp"] = .integer(issuedAt + seconds)
    }

    private static func set(_ name: String, _ value: JSONValue?, in members: inout [JSONMember]) {
        let index = members.firstIndex { $0.name == name }
        switch (index, value) {
        case (let index?, let value?): members[index] = JSONMember(name: name, value: value)
        case (let index?, nil): members.remove(at: index)
        case (nil, let value?): members.append(JSONMember(name: name, value: value))
        case (nil, nil): return
        }
    }
}
