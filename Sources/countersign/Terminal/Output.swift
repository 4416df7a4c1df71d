import Domain
import Encoding
import Foundation

/// The output of the program: reports of commands on standard output, notes on standard error. All of it passes through
/// here, without characters that a terminal would interpret or hide (``Printable``).
enum Output {
    /// Writes a report: one JSON value and a line feed, or tables with columns as wide as their longest entry.
    static func show(_ report: Report, asJSON: Bool) {
        if report.isEmpty { return }
        if asJSON {
            write(text(report.json))
        } else if let text = report.text {
            write(text)
        } else {
            for table in report.tables { write(columns(table, width: Terminal.width, verdict: report.verdict)) }
        }
        report.notes.forEach(note)
        if let hint = report.hint, Terminal.showsErrors { note(hint) }
    }

    /// One JSON value and a line feed.
    static func text(_ json: JSONValue) -> String { Printable.json(json.jsonText) + "\n" }

    /// Writes a line to standard error that is not part of the result.
    static func note(_ line: String) {
        FileHandle.standardError.write(Data((Printable.text(line) + "\n").utf8))
    }

    /// Writes a command's last output. Help and completions are this program's own texts and are not escaped.
    static func end(_ output: String, stderr: String) {
        write(output)
        FileHandle.standardError.write(Data(Printable.text(stderr, keeping: ["\n"]).utf8))
    }

    /// The text of a table. The heading is the first row, if it is in capitals.
    ///
    /// - Parameters:
    ///   - width: the longest line, in characters; `nil` for no limit. A wider table is written as one block a row, so
    ///     that ids are never cut off.
    ///   - verdict: whether the last entry is a good result, shown by its colour; `nil` for no colour.
    static func columns(_ rows: [[String]], width: Int? = nil, verdict: Bool? = nil) -> String {
        let rows = rows.map { $0.map { Printable.text($0) } }
        var widths: [Int] = []
        for row in rows {
            for (index, entry) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], entry.count)
            }
        }
        let hasHeading = (rows.first?.count ?? 0) > 1 && rows.first?.allSatisfy { $0 == $0.uppercased() } == true
        if let width, widths.reduce(0, +) + 2 * (widths.count - 1) > width {
            guard !hasHeading else { return blocks(rows, width: width) }
            return rows.enumerated().map { number, row in
                record(row, widths, width: width, verdict: number == rows.count - 1 ? verdict : nil)
            }.joined()
        }
        return rows.enumerated().map { number, row in
            var line = ""
            for (index, entry) in row.enumerated() {
                let isVerdict = number == rows.count - 1 && index == row.count - 1
                line +=
                    number == 0 && hasHeading
                    ? Terminal.bold(entry) : Terminal.verdict(entry, isGood: isVerdict ? verdict : nil)
                guard index < row.count - 1 else { continue }
                line += String(repeating: " ", count: widths[index] - entry.count + 2)
            }
            return line + "\n"
        }.joined()
    }

    /// Each row as lines of heading and entry, with an empty line between two rows.
    private static func blocks(_ rows: [[String]], width: Int) -> String {
        guard let heading = rows.first, let label = heading.map(\.count).max() else { return "" }
        return rows.dropFirst().map { row in
            zip(heading, row).map { record([$0, $1], [label], width: width) }.joined()
        }.joined(separator: "\n")
    }

    /// A name and its value, broken into lines that fit.
    private static func record(_ row: [String], _ widths: [Int], width: Int, verdict: Bool? = nil) -> String {
        guard row.count == 2, let label = widths.first, width - label - 2 >= 8 else {
            return row.joined(separator: "  ") + "\n"
        }
        var rest = row[1][...]
        var text = ""
        var lead = row[0] + String(repeating: " ", count: label - row[0].count + 2)
        repeat {
            text += lead + Terminal.verdict(String(rest.prefix(width - label - 2)), isGood: verdict) + "\n"
            rest = rest.dropFirst(width - label - 2)
            lead = String(repeating: " ", count: label + 2)
        } while !rest.isEmpty
        return text
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
