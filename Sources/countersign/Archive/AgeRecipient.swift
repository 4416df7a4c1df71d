import Crypto
import Foundation

/// A recipient of an archive: an X25519 public key in age's form, `age1…` (age-encryption.org/v1, *The X25519
/// recipient type*). Its holder keeps the private key outside this service.
struct AgeRecipient: Sendable, Equatable {
    let text: String
    private let publicKey: [UInt8]

    /// Parses a recipient.
    ///
    /// - Throws: ``CommandFailure`` that names what the text is instead, without repeating a private key.
    init(_ text: String) throws(CommandFailure) {
        if text.uppercased().hasPrefix("AGE-SECRET-KEY-") {
            throw CommandFailure(
                "This is a private key. It has now left your hands and must be regarded as leaked: make a new pair with "
                    + "`age-keygen`, and give only its public key, age1….", exitCode: .usage)
        }
        guard let bytes = Bech32.decode(text, word: "age"), bytes.count == 32 else {
            throw CommandFailure(
                "--recipient must be a public key of age, age1 and 58 more characters, as `age-keygen` shows it. "
                    + "\(text.prefix(80)) is not valid.", exitCode: .usage)
        }
        self.text = text
        publicKey = bytes
        do {
            _ = try stanza(wrapping: SymmetricKey(size: .bits128))
        } catch {
            throw Self.protectsNothing(text)
        }
    }

    /// The header's stanza that gives this recipient the file key.
    ///
    /// - Throws: ``CommandFailure`` if the key is a point of small order.
    func stanza(wrapping fileKey: SymmetricKey) throws -> String {
        let ephemeral = Curve25519.KeyAgreement.PrivateKey()
        let share = ephemeral.publicKey.rawRepresentation
        let secret = try ephemeral.sharedSecretFromKeyAgreement(
            with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey))
        // A point of small order results in a publicly known secret (RFC 7748 §6.1).
        guard secret.withUnsafeBytes({ $0.contains { $0 != 0 } }) else { throw Self.protectsNothing(text) }
        let key = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: share + publicKey, sharedInfo: Data("age-encryption.org/v1/X25519".utf8),
            outputByteCount: 32)
        // Each wrapping key wraps only one file key, so a constant nonce is enough.
        let box = try ChaChaPoly.seal(
            fileKey.withUnsafeBytes { Data($0) }, using: key,
            nonce: ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12)))
        return "-> X25519 \(AgeWriter.base64(share))\n\(AgeWriter.base64(box.ciphertext + box.tag))\n"
    }

    private static func protectsNothing(_ text: String) -> CommandFailure {
        CommandFailure("\(text) is an insecure key: use another one, as `age-keygen` creates them.", exitCode: .usage)
    }
}
