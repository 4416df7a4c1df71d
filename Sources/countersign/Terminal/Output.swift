import Domain
import Encoding
import Foundation

/// What commands write: one JSON value with `--json` on standard output, a table for people without. All that a command
/// prints goes through here, and nothing passes that a terminal would obey or not show (``Printable``).
enum Output {
    /// Writes one JSON value and a line feed.
    static func json(_ value: JSONValue) {
        write(Printable.json(value.jsonText) + "\n")
    }

    /// Writes rows in columns as wide as their longest entry; the first row is the heading where there is one (in
    /// capitals). What does not fit a terminal is written as one block a row.
    ///
    /// - Parameter verdict: whether what the last entry says is good; it is shown in a colour then, where there are any.
    static func table(_ rows: [[String]], verdict: Bool? = nil) {
        write(columns(rows, width: Terminal.width, verdict: verdict))
    }

    /// Writes a line to standard error, for what is no part of the result.
    static func note(_ line: String) {
        FileHandle.standardError.write(Data((Printable.text(line) + "\n").utf8))
    }

    /// Writes what a command says at its end. Help and completions are this program's own words, and stay as they are.
    static func end(_ output: String, stderr: String) {
        write(output)
        FileHandle.standardError.write(Data(Printable.text(stderr, keeping: ["\n"]).utf8))
    }

    /// The text of ``table(_:)``.
    ///
    /// - Parameter width: how many characters a line may have; `nil` where it does not matter. A table that is wider is
    ///   written as one block a row, so that nothing is cut off: ids are there to be copied.
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

    /// Each row as lines of heading and entry, an empty line between two rows.
    private static func blocks(_ rows: [[String]], width: Int) -> String {
        guard let heading = rows.first, let label = heading.map(\.count).max() else { return "" }
        return rows.dropFirst().map { row in
            zip(heading, row).map { record([$0, $1], [label], width: width) }.joined()
        }.joined(separator: "\n")
    }

    /// A name and what belongs to it, broken into lines that fit.
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

    /// Writes whole lines of JSON, such as those of an export.
    static func lines(_ json: [UInt8]) throws {
        try FileHandle.standardOutput.write(
            contentsOf: Data(Printable.json(String(decoding: json, as: UTF8.self)).utf8))
    }

    /// File handles and `print` buffer apart; one way out keeps the order.
    private static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
