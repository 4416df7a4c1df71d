import Crypto
import CryptoExtras
import Domain
import Foundation

/// A public key that was read, judged and made ready once, together with the one algorithm that it is used with.
package struct VerificationKey: Sendable {
    /// The algorithm whose signatures the key verifies. It comes from the registration, never from a token.
    package let algorithm: SignatureAlgorithm
    /// The DER SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), in its one canonical form.
    package let subjectPublicKeyInfo: [UInt8]
    /// SHA-256 of ``subjectPublicKeyInfo``, 32 bytes.
    package let thumbprint: [UInt8]
    private let prepared: Prepared

    private enum Prepared: Sendable {
        case rsa(_RSA.Signing.PublicKey, _RSA.Signing.Padding)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    /// Takes a DER SubjectPublicKeyInfo.
    ///
    /// - Parameter algorithm: what the key is to be used with; `nil` for the usual one of its type (RS256, ES256,
    ///   ES384, EdDSA).
    /// - Throws: ``Refusal`` `invalid_provider_key` with reason `malformed`, `weak_key` or `unsupported_key`.
    package init(subjectPublicKeyInfo bytes: [UInt8], algorithm: SignatureAlgorithm? = nil) throws(Refusal) {
        do throws(KeyDefect) {
            try self.init(PublicKeyMaterial(subjectPublicKeyInfo: bytes), algorithm: algorithm)
        } catch {
            throw error.refusal(.invalidProviderKey)
        }
    }

    /// Makes a key ready: judges its strength, fits the algorithm, hands the numbers to the library.
    init(_ material: PublicKeyMaterial, algorithm: SignatureAlgorithm?) throws(KeyDefect) {
        let fitting = material.algorithms
        guard let chosen = fitting.first(where: { algorithm == nil || $0 == algorithm }) else {
            let names = fitting.map(\.rawValue).joined(separator: " or ")
            throw KeyDefect(
                .unsupportedKey, "The key can be used with \(names), not with the algorithm that was named.")
        }
        try material.requireStrength()
        do {
            switch material {
            case .rsa(let modulus, let exponent):
                let padding: _RSA.Signing.Padding = chosen == .ps256 ? .PSS : .insecurePKCS1v1_5
                prepared = .rsa(try _RSA.Signing.PublicKey(n: modulus, e: exponent), padding)
            case .p256(let point): prepared = .p256(try P256.Signing.PublicKey(x963Representation: point))
            case .p384(let point): prepared = .p384(try P384.Signing.PublicKey(x963Representation: point))
            case .ed25519(let key): prepared = .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: key))
            }
        } catch {
            throw KeyDefect(.malformed, "The numbers in the key are not those of a public key.")
        }
        self.algorithm = chosen
        subjectPublicKeyInfo = material.subjectPublicKeyInfo
        thumbprint = Array(SHA256.hash(data: subjectPublicKeyInfo))
    }

    /// Whether a signature in the form of RFC 7518 §3 (ECDSA: R ‖ S in 64 or 96 bytes) is this key's over a message.
    package func isValid(signature: some DataProtocol, over message: some DataProtocol) -> Bool {
        switch prepared {
        case .rsa(let key, let padding):
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
}

extension VerificationKey: Equatable {
    /// The same key for the same algorithm.
    package static func == (left: VerificationKey, right: VerificationKey) -> Bool {
        left.algorithm == right.algorithm && left.subjectPublicKeyInfo == right.subjectPublicKeyInfo
    }
}
