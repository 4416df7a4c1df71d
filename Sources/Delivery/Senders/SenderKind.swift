import Domain
import Encoding
import Foundation

/// A kind of sender: the keys of its entries in `senders:`, and how a sender is made of them. Each kind has a folder
/// of its own, with the type of its settings.
package struct SenderKind: Sendable {
    /// The value of `kind:` in the policy.
    package let name: String
    package let keys: [Key]
    /// Validates the settings of an entry.
    let check: @Sendable (SenderEntry) throws(DeliveryError) -> Void
    /// Makes the sender of an entry.
    let make: @Sendable (SenderEntry, SenderParts) throws -> any Sender
}

package extension SenderKind {
    /// A key that an entry of `senders:` may have.
    struct Key: Sendable {
        package let name: String
        /// The value if the entry does not set the key.
        let standard: String
        /// The accepted values, for a sentence.
        let expected: String
        let accepts: @Sendable (String) -> Bool

        /// A text of letters, digits and the few punctuation marks of names, numbers and SIDs; it may be empty.
        static func word(_ name: String, standard: String = "", _ expected: String, upTo count: Int) -> Key {
            Key(name: name, standard: standard, expected: expected) { text in
                text.utf8.count <= count
                    && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-./".contains($0)) }
            }
        }

        /// The name of a file in the directory of the keys; it may be empty.
        static func file(_ name: String, standard: String = "") -> Key {
            Key(name: name, standard: standard, expected: "the name of a file in the directory of the keys") { text in
                text.utf8.count <= 255 && !text.hasPrefix(".")
                    && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
            }
        }

        /// A `ServiceURL`; it may be empty.
        static func url(_ name: String, standard: String = "") -> Key {
            Key(name: name, standard: standard, expected: "an https URL, or an http URL on loopback,") { text in
                text.isEmpty || ServiceURL(text) != nil
            }
        }
    }

    static let all: [SenderKind] = [.sns, .twilio, .webhook, .file]

    /// The names of the kinds that send to phones: all but `file`, for a sentence.
    static let namesForPhones = all.map(\.name).filter { $0 != file.name }.joined(separator: ", ")

    /// What is wrong with the values of an entry: the key, and what is expected; `nil` if they are valid.
    func defect(in entry: SenderEntry) -> (key: String, expected: String)? {
        do throws(DeliveryError) {
            try check(entry)
            return nil
        } catch {
            guard case .sender(_, let key, let expected) = error else { return ("kind", error.description) }
            return (key, expected)
        }
    }
}

extension SenderEntry {
    /// The value of a key, or its default.
    ///
    /// - Throws: ``DeliveryError/sender(kind:key:expected:)``.
    func text(_ key: SenderKind.Key) throws(DeliveryError) -> String {
        let text = values[key.name] ?? key.standard
        guard key.accepts(text) else { throw .sender(kind: kind, key: key.name, expected: key.expected) }
        return text
    }

    func required(_ key: SenderKind.Key) throws(DeliveryError) -> String {
        let text = try text(key)
        guard !text.isEmpty else { throw .sender(kind: kind, key: key.name, expected: key.expected) }
        return text
    }

    func url(_ key: SenderKind.Key) throws(DeliveryError) -> ServiceURL {
        guard let url = ServiceURL(try text(key)) else {
            throw .sender(kind: kind, key: key.name, expected: key.expected)
        }
        return url
    }
}

/// The other inputs of a sender, besides its settings.
struct SenderParts: Sendable {
    /// Reads a file in `Keys/` by its name.
    let secret: @Sendable (_ file: String) throws -> String
    let environment: [String: String]
    /// The path that the `file` sender appends to.
    let texts: String
    let isLoopbackOnly: Bool
    let http: BoundedHTTPClient
    let now: @Sendable () -> Date

    /// Reads a secret of one line: 1 to 1,024 printable ASCII characters without space.
    ///
    /// - Parameter expected: what the file must contain, for a sentence.
    /// - Throws: ``DeliveryError/secret(_:expected:)``, or what reading the file throws.
    func token(_ file: String, expected: String) throws -> Secret<String> {
        let text = try secret(file).trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw DeliveryError.secret(file, expected: expected)
        }
        return Secret(text)
    }
}
