import Foundation
import Identity

/// What commands write on standard output: one JSON value with `--json`, a table for people without.
enum Output {
    /// Writes one JSON value and a line feed.
    static func json(_ value: JSONValue) {
        write(value.jsonText + "\n")
    }

    /// Writes rows in columns as wide as their longest entry; the first row is the heading where there is one (in
    /// capitals). What does not fit a terminal is written as one block a row.
    static func table(_ rows: [[String]]) {
        write(columns(rows, width: Terminal.width))
    }

    /// Writes a line to standard error, for what is no part of the result.
    static func note(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// The text of ``table(_:)``.
    ///
    /// - Parameter width: how many characters a line may have; `nil` where it does not matter. A table that is wider is
    ///   written as one block a row, so that nothing is cut off: ids are there to be copied.
    static func columns(_ rows: [[String]], width: Int? = nil) -> String {
        var widths: [Int] = []
        for row in rows {
            for (index, entry) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], entry.count)
            }
        }
        let hasHeading = (rows.first?.count ?? 0) > 1 && rows.first?.allSatisfy { $0 == $0.uppercased() } == true
        if let width, widths.reduce(0, +) + 2 * (widths.count - 1) > width {
            return hasHeading ? blocks(rows, width: width) : rows.map { record($0, widths, width: width) }.joined()
        }
        return rows.enumerated().map { number, row in
            var line = ""
            for (index, entry) in row.enumerated() {
                line += number == 0 && hasHeading ? Terminal.bold(entry) : entry
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
    private static func record(_ row: [String], _ widths: [Int], width: Int) -> String {
        guard row.count == 2, let label = widths.first, width - label - 2 >= 8 else {
            return row.joined(separator: "  ") + "\n"
        }
        var rest = row[1][...]
        var text = ""
        var lead = row[0] + String(repeating: " ", count: label - row[0].count + 2)
        repeat {
            text += lead + rest.prefix(width - label - 2) + "\n"
            rest = rest.dropFirst(width - label - 2)
            lead = String(repeating: " ", count: label + 2)
        } while !rest.isEmpty
        return text
    }

    /// Writes bytes as they are, such as lines of an export.
    static func bytes(_ bytes: [UInt8]) throws {
        try FileHandle.standardOutput.write(contentsOf: Data(bytes))
    }

    /// File handles and `print` buffer apart; one way out keeps the order.
    private static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}

extension JSONValue {
    /// An object from names and values in order.
    static func members(_ pairs: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(pairs.map { JSONMember(name: $0.key, value: $0.value) })
    }
}
