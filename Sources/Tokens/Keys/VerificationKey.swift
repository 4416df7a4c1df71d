import Crypto
import CryptoExtras
import Domain
import Encoding
import Foundation

/// A validated public key, prepared once, with the one algorithm that it is used with.
package struct VerificationKey: Sendable, Equatable {
    /// The algorithm whose signatures the key verifies. It comes from the registration, never from a token.
    package let algorithm: SignatureAlgorithm
    package let publicKey: PublicKey

    /// Takes a key and its algorithm; `nil` for the default of its type.
    init(_ publicKey: PublicKey, algorithm: SignatureAlgorithm?) throws(PublicKeyDefect) {
        let fitting = publicKey.algorithms
        guard let chosen = fitting.first(where: { algorithm == nil || $0 == algorithm }) else {
            let names = fitting.map(\.rawValue).joined(separator: " or ")
            throw PublicKeyDefect(
                .unsupportedKey, "The key cannot be used with the named algorithm. Use \(names).")
        }
        self.algorithm = chosen
        self.publicKey = publicKey
    }
}

package extension VerificationKey {
    /// The DER SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), in its one canonical form.
    var subjectPublicKeyInfo: [UInt8] { publicKey.subjectPublicKeyInfo }
    /// SHA-256 of ``subjectPublicKeyInfo``, 32 bytes.
    var thumbprint: [UInt8] { publicKey.thumbprint }
    /// The key as PEM (RFC 7468 §13).
    var pem: String { publicKey.pem }

    /// Takes a DER SubjectPublicKeyInfo.
    ///
    /// - Parameter algorithm: the key's algorithm; `nil` for the default of its type (RS256, ES256, ES384,
    ///   EdDSA).
    /// - Throws: `Refusal` `invalid_provider_key` with reason `malformed`, `weak_key` or `unsupported_key`.
    init(subjectPublicKeyInfo bytes: [UInt8], algorithm: SignatureAlgorithm? = nil) throws(Refusal) {
        do throws(PublicKeyDefect) {
            try self.init(PublicKey(subjectPublicKeyInfo: bytes), algorithm: algorithm)
        } catch {
            throw error.refusal(.invalidProviderKey)
        }
    }

    /// Takes a PEM text (RFC 7468) with one `PUBLIC KEY` (§13) or the older `RSA PUBLIC KEY` (RFC 8017 §A.1.1).
    ///
    /// - Throws: `Refusal` `invalid_provider_key` with reason `private_key` if a private key was pasted, otherwise
    ///   `malformed`, `weak_key` or `unsupported_key`.
    init(pem: String, algorithm: SignatureAlgorithm? = nil) throws(Refusal) {
        do throws(PublicKeyDefect) {
            try self.init(PublicKey(pem: pem), algorithm: algorithm)
        } catch {
            throw error.refusal(.invalidProviderKey)
        }
    }

    /// Takes the text forms in which developers keep public keys: PEM, or a JWK if the text is a JSON object.
    ///
    /// - Throws: `Refusal` `invalid_provider_key` as the initializers for each form.
    init(text: String, algorithm: SignatureAlgorithm? = nil) throws(Refusal) {
        // JSON's white space (RFC 8259 §2) may precede it.
        guard text.utf8.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else {
            try self.init(pem: text, algorithm: algorithm)
            return
        }
        guard text.utf8.count <= PEM.maximumLength, let jwk = try? StrictJSON.parse(text.utf8) else {
            throw Refusal.keyNotJSON
        }
        try self.init(jwk: jwk, algorithm: algorithm)
    }

    /// Whether a signature over a message verifies with this key. The form is that of RFC 7518 §3 (ECDSA: R ‖ S in 64
    /// or 96 bytes).
    func isValid(signature: some DataProtocol, over message: some DataProtocol) -> Bool {
        switch publicKey.key {
        case .rsa(let key):
            let padding: _RSA.Signing.Padding = algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: Self.digest(SHA256(), message), padding: padding)
        case .p256(let key):
            guard signature.count == 64,
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: Self.digest(SHA256(), message))
        case .p384(let key):
            guard signature.count == 96,
                let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: Self.digest(SHA384(), message))
        case .ed25519(let key):
            return signature.count == 64 && key.isValidSignature(signature, for: message)
        }
    }

    private static func digest<Hash: HashFunction>(_ hash: Hash, _ message: some DataProtocol) -> Hash.Digest {
        var hash = hash
        for region in message.regions { region.withUnsafeBytes { hash.update(bufferPointer: $0) } }
        return hash.finalize()
    }

    /// Whether both have the same key and algorithm.
    static func == (left: VerificationKey, right: VerificationKey) -> Bool {
        left.algorithm == right.algorithm && left.publicKey == right.publicKey
    }
}

extension PublicKey {
    /// The algorithms that the key can be used with, the default first.
    var algorithms: [SignatureAlgorithm] {
        switch key {
        case .rsa: [.rs256, .ps256]
        case .p256: [.es256]
        case .p384: [.es384]
        case .ed25519: [.edDSA]
        }
    }
}

extension PublicKeyDefect {
    /// The refusal with the code of the call that received the key.
    func refusal(_ code: Refusal.Code) -> Refusal {
        Refusal(code, detail, reason: Refusal.Reason(reason))
    }
}

/// A provider's registered key, prepared for verification.
package struct RegisteredKey: Sendable {
    /// The `kid` of its tokens.
    package let id: ProviderKeyID
    let providerID: ProviderID
    /// The key and its algorithm.
    package let verificationKey: VerificationKey
    /// Whether it is retired or revoked; its tokens are refused with `key_retired`.
    package let retired: Bool

    package init(id: ProviderKeyID, providerID: ProviderID, verificationKey: VerificationKey, retired: Bool) {
        self.id = id
        self.providerID = providerID
        self.verificationKey = verificationKey
        self.retired = retired
    }

    /// Prepares a stored key.
    ///
    /// - Throws: `Refusal` `invalid_provider_key` for a record whose key or algorithm would not be registered today.
    package init(_ record: ProviderKeyRecord) throws(Refusal) {
        guard let algorithm = SignatureAlgorithm(rawValue: record.algorithm) else {
            throw Refusal.unsupportedKey
        }
        self.init(
            id: record.id, providerID: record.providerID,
            verificationKey: try VerificationKey(
                subjectPublicKeyInfo: record.subjectPublicKeyInfo, algorithm: algorithm),
            retired: record.retiredAt != nil || record.revokedAt != nil)
    }
}

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
}

package extension SignatureAlgorithm {
    var rawValue: String {
        switch self {
        case .rs256: "RS256"
        case .ps256: "PS256"
        case .es256: "ES256"
        case .es384: "ES384"
        case .edDSA: "EdDSA"
        }
    }

    init?(rawValue: String) {
        let name = rawValue.hasSameBytes(as: "Ed25519") ? "EdDSA" : rawValue
        guard let algorithm = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) else { return nil }
        self = algorithm
    }
}
