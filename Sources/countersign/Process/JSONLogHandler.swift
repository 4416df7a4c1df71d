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
        var line = writer.begin(at: Date())
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
        // Escapes characters that a terminal would interpret. The largest byte is found several bytes at a time.
        if line.withUnsafeBufferPointer({ $0.reduce(0) { max($0, $1) } }) >= 0x7F {
            line = Array(Printable.json(String(decoding: line, as: UTF8.self)).utf8)
        }
        writer.write(&line, urgently: event.level >= .warning)
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
    private struct State {
        var pending: [UInt8] = []
        /// The memory of a written line, for the next one.
        var spare: [UInt8] = []
        var second = Int64.min
        /// How a line of that second begins.
        var beginning: [UInt8] = []
    }

    /// The bytes that a usual line takes.
    private static let usual = 512
    /// The most that is kept for the next one.
    private static let most = 4096

    private let state = Mutex(State())
    private let file: FileHandle

    /// Writes to a file, such as standard error.
    init(_ file: FileHandle) {
        self.file = file
    }

    /// Begins a line, which the caller completes from the text of the level on, and writes.
    func begin(at now: Date) -> [UInt8] {
        let second = Int64(saturating: now.timeIntervalSince1970.rounded(.down))
        var line: [UInt8] = []
        state.withLock { state in
            if state.second != second {
                state.second = second
                state.beginning = Array("{\"time\":\"\(now.rfc3339)\",\"level\":\"".utf8)
            }
            swap(&line, &state.spare)
            line += state.beginning
        }
        line.reserveCapacity(Self.usual)
        return line
    }

    /// Takes a complete line, and its memory with it.
    func write(_ line: inout [UInt8], urgently: Bool) {
        state.withLock { state in
            state.pending += line
            if urgently || state.pending.count >= 32_768 { flush(&state.pending) }
            line.removeAll(keepingCapacity: line.capacity <= Self.most)
            swap(&line, &state.spare)
        }
    }

    func flush() {
        state.withLock { flush(&$0.pending) }
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
