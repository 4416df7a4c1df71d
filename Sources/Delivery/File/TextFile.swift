import Domain
import Encoding
import Foundation
import PhoneNumbers

extension SenderKind {
    /// It has no settings: the file is named beside the store.
    static let file = SenderKind(
        name: "file", keys: [], check: { _ throws(DeliveryError) in },
        make: { _, parts in
            guard parts.isLoopbackOnly else { throw DeliveryError.fileOffLoopback }
            return TextFile(path: parts.texts, now: parts.now)
        })
}

/// For development: appends `{"to","text","sent_at"}` as a line of JSON to a file (mode 0600), and does nothing else.
package struct TextFile: Sender {
    package let name = "file"
    private let path: String
    private let now: @Sendable () -> Date

    /// Appends to a file, which is made with the first message.
    package init(path: String, now: @escaping @Sendable () -> Date) {
        self.path = path
        self.now = now
    }

    package func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        let (to, text) =
            switch message {
            case .text(let number, let body): (number.e164, body)
            case .push(let endpoint, let payload): (endpoint, payload)
            }
        let line = JSONValue.object([
            "to": .string(to), "text": .string(text), "sent_at": .string(now().rfc3339),
        ])
        return append(line.jsonText + "\n")
    }

    /// One write at the end of the file: lines of several processes do not mix. A symbolic link is not followed, and a
    /// file that others may read is shut to them before it gets a code.
    private func append(_ line: String) -> DeliveryOutcome {
        // Nothing else than a file is made private: not /dev/null.
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard type == nil || type == .typeRegular else { return .unavailable(reason: "it is no regular file") }
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return .unavailable(reason: "the file cannot be opened") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard fchmod(descriptor, 0o600) == 0 else {
            return .unavailable(reason: "the file is not this service's own")
        }
        do { try file.write(contentsOf: Data(line.utf8)) } catch {
            return .unavailable(reason: "the file cannot be written")
        }
        return .sent(reference: "line")
    }
}
