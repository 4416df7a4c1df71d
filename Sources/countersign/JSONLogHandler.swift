import Foundation
import Identity
import Logging

/// One line of JSON on standard error for each event; values are what the code put there, never a request's content.
struct JSONLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let label: String

    init(label: String, level: Logger.Level) {
        self.label = label
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var members = [
            JSONMember(name: "time", value: .string(Date().rfc3339)),
            JSONMember(name: "level", value: .string(event.level.rawValue)),
            JSONMember(name: "message", value: .string("\(event.message)")),
        ]
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            members.append(JSONMember(name: name == "hb.request.id" ? "request_id" : name, value: .string("\(value)")))
        }
        // One write for a line, so that lines of several threads never mix.
        FileHandle.standardError.write(Data((JSONValue.object(members).jsonText + "\n").utf8))
    }
}
