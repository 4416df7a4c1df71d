import Domain
import Encoding
import Foundation
import PhoneNumbers

extension SenderKind {
    /// Has no settings: the path is next to the store.
    static let file = SenderKind(
        name: "file", keys: [], check: { _ throws(DeliveryError) in },
        make: { _, parts in
            guard parts.isLoopbackOnly else { throw DeliveryError.fileOffLoopback }
            return TextFile(path: parts.texts, now: parts.now)
        })
}

/// For development: appends `{"to","text","sent_at"}` as a line of JSON to a file (mode 0600), and does nothing else.
package struct TextFile: Sender {
    let name = "file"
    private let path: String
    private let now: @Sendable () -> Date

    /// Appends to a file, which is created with the first message.
    package init(path: String, now: @escaping @Sendable () -> Date) {
        self.path = path
        self.now = now
    }
}

package extension TextFile {
    func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        let (to, text) =
            switch message {
            case .text(let number, let body): (number.e164, body)
            case .push(let endpoint, let payload, _): (endpoint, payload)
            }
        let line = JSONValue.object([
            "to": .string(to), "text": .string(text), "sent_at": .string(now().rfc3339),
        ])
        return append(line.jsonText + "\n")
    }

    /// Appends a line about a text that was not sent: `{"to","withheld","at"}`. A write error is ignored.
    ///
    /// - Parameter cause: one word.
    func note(withheld cause: String, to number: PhoneNumber) {
        let line = JSONValue.object([
            "to": .string(number.e164), "withheld": .string(cause), "at": .string(now().rfc3339),
        ])
        _ = append(line.jsonText + "\n")
    }

    /// Appends with one write, so that lines of several processes do not mix. It does not follow a symbolic link. If
    /// others may read the file, it removes their permission before it writes a code.
    private func append(_ line: String) -> DeliveryOutcome {
        // Only regular files are made private: not /dev/null.
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard type == nil || type == .typeRegular else { return .unavailable(reason: "it is not a regular file") }
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return .unavailable(reason: "the file cannot be opened") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard fchmod(descriptor, 0o600) == 0 else {
            return .unavailable(reason: "the file belongs to another user")
        }
        do { try file.write(contentsOf: Data(line.utf8)) } catch {
            return .unavailable(reason: "the file cannot be written")
        }
        return .sent(reference: "line")
    }
}
