import Domain
import Encoding
import Foundation

/// The output of the program: reports of commands on standard output, notes on standard error. All of it passes through
/// here, without characters that a terminal would interpret or hide (`PlainText.shown`, ``Printable``).
enum Output {
    /// Writes a report: one JSON value and a line feed, or tables with columns as wide as their longest entry.
    static func show(_ report: Report, asJSON: Bool) {
        if report.isEmpty { return }
        write(asJSON ? text(report.json) : text(report, width: Terminal.width))
        report.notes.forEach(note)
        if let hint = report.hint, Terminal.showsErrors { note(hint) }
    }

    /// What people get of a report on standard output: complete lines.
    ///
    /// - Parameter width: the longest line of a table, in characters; `nil` for no limit.
    static func text(_ report: Report, width: Int?) -> String {
        guard let text = report.text else {
            return report.tables.map { columns($0, width: width, verdict: report.verdict) }.joined()
        }
        return text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n"
    }

    /// One JSON value and a line feed.
    static func text(_ json: JSONValue) -> String { Printable.json(json.jsonText) + "\n" }

    /// Writes a line to standard error that is not part of the result.
    static func note(_ line: String) {
        FileHandle.standardError.write(Data((PlainText.shown(line, keeping: [" "]) + "\n").utf8))
    }

    /// Writes a command's last output. Help and completions are this program's own texts and are not escaped.
    static func end(_ output: String, stderr: String) {
        write(output)
        FileHandle.standardError.write(Data(PlainText.shown(stderr, keeping: ["\n", " "]).utf8))
    }

    /// The text of a table. The heading is the first row, if it is in capitals.
    ///
    /// - Parameters:
    ///   - width: the longest line, in characters; `nil` for no limit.
    ///   - verdict: whether the last entry is a good result, shown by its colour; `nil` for no colour.
    static func columns(_ rows: [[String]], width: Int? = nil, verdict: Bool? = nil) -> String {
        TableLayout(rows, verdict: verdict).text(width: width)
    }

    /// Writes complete lines of JSON, such as those of an export.
    static func lines(_ json: [UInt8]) throws {
        try FileHandle.standardOutput.write(
            contentsOf: Data(Printable.json(String(decoding: json, as: UTF8.self)).utf8))
    }

    /// File handles and `print` have separate buffers; a single function keeps the order.
    private static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
