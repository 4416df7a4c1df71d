import Foundation
import Identity

/// What commands write on standard output: one JSON value with `--json`, a table for people without.
enum Output {
    /// Writes one JSON value and a line feed.
    static func json(_ value: JSONValue) {
        write(value.jsonText + "\n")
    }

    /// Writes rows in columns as wide as their longest entry; the first row is the heading where there is one.
    static func table(_ rows: [[String]]) {
        write(columns(rows))
    }

    /// Writes a line to standard error, for what is no part of the result.
    static func note(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// The text of ``table(_:)``.
    static func columns(_ rows: [[String]]) -> String {
        var widths: [Int] = []
        for row in rows {
            for (index, entry) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], entry.count)
            }
        }
        return rows.map { row in
            var line = ""
            for (index, entry) in row.enumerated() {
                line += entry
                guard index < row.count - 1 else { continue }
                line += String(repeating: " ", count: widths[index] - entry.count + 2)
            }
            return line + "\n"
        }.joined()
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
