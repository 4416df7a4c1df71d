/// A defect of a submitted public key.
public struct PublicKeyDefect: Error, Equatable {
    public let reason: Reason
    /// One sentence for the developer who sent the key; no part of the key is in it.
    public let detail: String

    init(_ defect: PEM.Defect, in text: String) {
        switch defect {
        case .privateKey: self = .leaked
        case .tooLong:
            self.init(.malformed, "The key text is longer than \(PEM.maximumLength) bytes.")
        case .absent:
            let hint = text.hasPrefix("ssh-") || text.hasPrefix("ecdsa-") ? " OpenSSH's form is not accepted." : ""
            self.init(.malformed, "The text contains no PEM block that begins with -----BEGIN PUBLIC KEY-----.\(hint)")
        case .notOne: self.init(.malformed, "The text is not one whole PEM block (RFC 7468).")
        }
    }
}

public extension PublicKeyDefect {
    /// The reason codes of `invalid_provider_key` and `invalid_csr`.
    enum Reason: String, Sendable, CaseIterable {
        case malformed
        case privateKey = "private_key"
        case weakKey = "weak_key"
        case unsupportedKey = "unsupported_key"
    }

    init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The defect of a text with a private key: its owner has disclosed it.
    static let leaked = PublicKeyDefect(
        .privateKey,
        "This is a private key. Regard it as leaked. Make a new pair, and send the"
            + " public key only.")
}
