import Delivery
import Foundation
import Identity
import Synchronization

/// Appends each text to a file as one line of JSON, `{"to","text","sent_at"}`: the sender for development and tests.
final class FileSender: Sender {
    let name = "file"
    private let file: Mutex<FileHandle>

    /// Opens the file for appending, made with mode 0600 where it is not there.
    init(path: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure("\(path) cannot be opened for texts.") }
        file = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    func send(_ message: Message) async -> DeliveryOutcome {
        guard case .text(let number, let body) = message else { return .refused(reason: "the file takes texts only") }
        let line = JSONValue.members([
            "to": .string(number.e164), "text": .string(body), "sent_at": .string(Date().rfc3339),
        ])
        return file.withLock { file in
            do {
                try file.write(contentsOf: Data((line.jsonText + "\n").utf8))
                return .sent(reference: "file")
            } catch {
                return .unavailable(reason: "the file cannot be written")
            }
        }
    }

    /// What a person reads; the last line is for autofill (the domain-bound code of WICG's sms-one-time-codes).
    static func text(digits: String, host: String) -> String {
        "\(digits) is your code. Do not give it to anybody.\n\n@\(host) #\(digits)"
    }
}
