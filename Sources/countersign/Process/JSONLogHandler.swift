import API
import Domain
import Encoding
import Foundation
import Logging
import Synchronization

/// One line of JSON for each event; values come from the code, never from a request's content.
struct JSONLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let writer: LogWriter

    init(writer: LogWriter, level: Logger.Level) {
        self.writer = writer
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line: [UInt8] = []
        line.reserveCapacity(512)
        line += "{\"time\":\"".utf8
        line += Date().rfc3339.utf8
        line += "\",\"level\":\"".utf8
        line += event.level.rawValue.utf8
        line += "\",\"message\":".utf8
        JSONValue.string(event.message.description).appendJSON(to: &line)
        if case .stringConvertible(let value)? = event.metadata?[RequestLine.key], let request = value as? RequestLine {
            request.appendJSON(to: &line)
            for (name, value) in metadata where name != Self.requestID { Self.append(name, value, to: &line) }
        } else {
            append(event, to: &line)
        }
        line += "}\n".utf8
        // Escapes characters that a terminal would interpret.
        if line.contains(where: { $0 >= 0x7F }) {
            line = Array(Printable.json(String(decoding: line, as: UTF8.self)).utf8)
        }
        writer.write(line, urgently: event.level >= .warning)
    }

    /// The HTTP library's name for the id of a request.
    private static let requestID = "hb.request.id"

    private func append(_ event: LogEvent, to line: inout [UInt8]) {
        for (name, value) in metadata where event.metadata?[name] == nil { Self.append(name, value, to: &line) }
        for (name, value) in event.metadata ?? [:] { Self.append(name, value, to: &line) }
    }

    private static func append(_ name: String, _ value: Logger.Metadata.Value, to line: inout [UInt8]) {
        line.append(UInt8(ascii: ","))
        JSONValue.string(name == requestID ? "request_id" : name).appendJSON(to: &line)
        line.append(UInt8(ascii: ":"))
        let text = if case .string(let text) = value { text } else { value.description }
        JSONValue.string(text).appendJSON(to: &line)
    }
}

/// Writes complete lines, several with one system call: a warning at once, other lines within a fifth of a second.
final class LogWriter: Sendable {
    private let pending = Mutex<[UInt8]>([])
    private let file: FileHandle

    /// Writes to a file, such as standard error.
    init(_ file: FileHandle) {
        self.file = file
    }

    func write(_ line: [UInt8], urgently: Bool) {
        pending.withLock { pending in
            pending += line
            if urgently || pending.count >= 32_768 { flush(&pending) }
        }
    }

    func flush() {
        pending.withLock { flush(&$0) }
    }

    /// Writes the pending lines five times a second until it is cancelled, and then once more.
    func run() async {
        while !Task.isCancelled {
            flush()
            try? await Task.sleep(for: .milliseconds(200))
        }
        flush()
    }

    /// A failed write to standard error (a closed pipe) must not end the service.
    private func flush(_ pending: inout [UInt8]) {
        guard !pending.isEmpty else { return }
        try? file.write(contentsOf: Data(pending))
        pending.removeAll(keepingCapacity: true)
    }
}
