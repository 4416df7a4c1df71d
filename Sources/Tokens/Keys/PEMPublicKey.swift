import Domain
import Encoding
import Foundation

extension VerificationKey {
    /// Takes the text forms in which developers keep public keys: PEM, or a JWK where the text is a JSON object.
    ///
    /// - Throws: ``Refusal`` `invalid_provider_key` as the initializers for each form.
    package init(text: String, algorithm: SignatureAlgorithm? = nil) throws(Refusal) {
        guard text.utf8.first(where: { !$0.isSpace }) == UInt8(ascii: "{") else {
            try self.init(pem: text, algorithm: algorithm)
            return
        }
        guard text.utf8.count <= PEMPublicKey.maximumLength, let jwk = try? StrictJSON.parse(text.utf8) else {
            throw Refusal(.invalidProviderKey, "The key looks like a JWK and is not JSON.", reason: "malformed")
        }
        try self.init(jwk: jwk, algorithm: algorithm)
    }

    /// Takes a PEM text (RFC 7468) with one `PUBLIC KEY` (§13) or the older `RSA PUBLIC KEY` (RFC 8017 §A.1.1).
    ///
    /// - Throws: ``Refusal`` `invalid_provider_key` with reason `private_key` where a private key was pasted, otherwise
    ///   `malformed`, `weak_key` or `unsupported_key`.
    package init(pem: String, algorithm: SignatureAlgorithm? = nil) throws(Refusal) {
        do throws(KeyDefect) {
            try self.init(PEMPublicKey.material(in: pem), algorithm: algorithm)
        } catch {
            throw error.refusal(.invalidProviderKey)
        }
    }
}

extension VerificationKey {
    /// The key as PEM (RFC 7468 §13). What is kept of a key is this and not the text that it came in: that may say
    /// anything around the key.
    package var pem: String {
        let body = Data(subjectPublicKeyInfo).base64EncodedString(
            options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PUBLIC KEY-----\n\(body)\n-----END PUBLIC KEY-----\n"
    }
}

/// Reads public keys from PEM, and says what else was pasted by mistake.
enum PEMPublicKey {
    /// Longer texts hold more than a key.
    static let maximumLength = 16_384

    private struct Block {
        let label: String
        var base64: [UInt8] = []
        var isComplete = false
    }

    static func material(in text: String) throws(KeyDefect) -> PublicKeyMaterial {
        guard text.utf8.count <= maximumLength else {
            throw KeyDefect(.malformed, "The key text is longer than \(maximumLength) bytes.")
        }
        let blocks = blocks(in: text)
        // Looked for in the text and not in the blocks: a private key may have lost its line breaks on the way.
        guard !text.contains("PRIVATE KEY-----") else { throw leaked }
        guard let block = blocks.first else {
            let hint = text.hasPrefix("ssh-") || text.hasPrefix("ecdsa-") ? " OpenSSH's form is another one." : ""
            throw KeyDefect(
                .malformed, "The text holds no PEM block that begins with -----BEGIN PUBLIC KEY-----.\(hint)")
        }
        guard !block.label.contains("CERTIFICATE") else {
            throw KeyDefect(
                .malformed,
                "This is a certificate or a request for one, not a public key: take the key out of it with"
                    + " openssl x509 (or req) -noout -pubkey.")
        }
        guard blocks.count == 1, block.isComplete, let bytes = Base64URL.decodeEitherAlphabet(block.base64) else {
            throw KeyDefect(.malformed, "The text is not one whole PEM block (RFC 7468).")
        }
        switch block.label {
        case "PUBLIC KEY": return try PublicKeyMaterial(subjectPublicKeyInfo: bytes)
        case "RSA PUBLIC KEY": return try PublicKeyMaterial(pkcs1: bytes)
        default:
            throw KeyDefect(.malformed, "The PEM block is neither a PUBLIC KEY nor an RSA PUBLIC KEY.")
        }
    }

    /// The answer to a private key that left its owner's hands.
    static let leaked = KeyDefect(
        .privateKey,
        "This is a private key. It has now left your hands and must be regarded as leaked: make a new pair, and send the"
            + " public key only.")

    /// Reads the blocks; text around them is allowed (RFC 7468 §2). A block without an end is kept, as incomplete.
    private static func blocks(in text: String) -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            if let label = boundary("BEGIN", in: line) {
                if let open { blocks.append(open) }
                open = Block(label: label)
            } else if var block = open {
                if let label = boundary("END", in: line) {
                    block.isComplete = label == block.label
                    blocks.append(block)
                    open = nil
                } else {
                    block.base64 += line.utf8
                    open = block
                }
            }
        }
        if let open { blocks.append(open) }
        return blocks
    }

    private static func boundary(_ word: String, in line: String) -> String? {
        let (prefix, suffix) = ("-----\(word) ", "-----")
        guard line.hasPrefix(prefix), line.hasSuffix(suffix), line.count > prefix.count + suffix.count
        else { return nil }
        return String(line.dropFirst(prefix.count).dropLast(suffix.count))
    }
}

extension UInt8 {
    /// JSON's white space (RFC 8259 §2).
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension Base64URL {
    /// Decodes base64 in the standard or the URL alphabet (RFC 4648 §4 and §5), with or without padding.
    static func decodeEitherAlphabet(_ text: some Collection<UInt8>) -> [UInt8]? {
        var characters = text.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        if characters.count % 4 == 0 {
            for _ in 0..<2 where characters.last == UInt8(ascii: "=") { characters.removeLast() }
        }
        return decode(characters)
    }
}
