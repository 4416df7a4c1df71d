import Console
import Domain
import Encoding
import Foundation

/// The secrets in `nonce.key`, a line each in base64url. Nonces are made with the one whose line has no word. Nonces of
/// `next` and `former` secrets are accepted too, so that nodes may be restarted one by one during a rotation.
struct NonceSecrets {
    var current: Secret<[UInt8]>
    var next: Secret<[UInt8]>?
    var former: Secret<[UInt8]>?

    /// The secrets that only verify.
    var others: [Secret<[UInt8]>] { [next, former].compactMap(\.self) }

    init(current: Secret<[UInt8]>) { self.current = current }

    /// Parses the file; `nil` if it has no current secret, or another line.
    init?(_ text: String) {
        var found: [Substring: Secret<[UInt8]>] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(separator: " ")
            let role = words.count == 2 ? words[0] : ""
            guard (1...2).contains(words.count), ["", "next", "former"].contains(role), found[role] == nil,
                let bytes = words.last.flatMap({ Base64URL.decode($0.utf8) }), bytes.count == 32
            else { return nil }
            found[role] = Secret(bytes)
        }
        guard let current = found[""] else { return nil }
        (self.current, next, former) = (current, found["next"], found["former"])
    }

    func key(generation: String, in cell: Cell) -> NonceKey {
        NonceKey(current, others: others, generation: generation, in: cell)
    }

    func exportKey(generation: String) -> ExportKey {
        ExportKey(current, others: others, generation: generation)
    }

    func formKeys(generation: String) -> FormKeys {
        FormKeys(current, others: others, generation: generation)
    }

    /// The text of the file.
    var text: Secret<String> {
        let lines: [(role: String, secret: Secret<[UInt8]>?)] = [
            ("", current), ("next ", next), ("former ", former),
        ]
        return Secret(
            lines.compactMap { role, secret in secret.map { role + Base64URL.encode($0.reveal()) + "\n" } }.joined())
    }
}
