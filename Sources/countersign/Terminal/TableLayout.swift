import Domain

/// A table for people, in lines of a limited width. Ids are never cut off, so that they can be copied.
struct TableLayout {
    private let rows: [[String]]
    private let widths: [Int]
    /// Whether the first row is a heading: several entries in capitals.
    private let hasHeading: Bool
    private let verdict: Bool?

    /// The fewest characters of a last column that is broken into lines.
    private static let narrowest = 20

    init(_ rows: [[String]], verdict: Bool? = nil) {
        let rows = rows.map { $0.map { PlainText.shown($0) } }
        var widths: [Int] = []
        for row in rows {
            for (index, entry) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], entry.count)
            }
        }
        self.rows = rows
        self.widths = widths
        self.verdict = verdict
        hasHeading = (rows.first?.count ?? 0) > 1 && rows.first?.allSatisfy { $0 == $0.uppercased() } == true
    }

    /// The table as columns. One that is too wide has its last column broken into lines, or else a block for each row.
    ///
    /// - Parameter width: the longest line, in characters; `nil` for no limit.
    func text(width: Int?) -> String {
        guard let width, let last = widths.last, indent + last > width else { return columns(last: nil) }
        guard widths.count > 1 else {
            return rows.flatMap { Self.lines($0.first ?? "", width) }.map { $0 + "\n" }.joined()
        }
        let left = width - indent
        // Of a table without a heading, as of a record, a single long word may be broken.
        let word = rows.compactMap { $0.last?.split(separator: " ").map(\.count).max() }.max() ?? 0
        if hasHeading ? left >= max(Self.narrowest, word) : left >= 8 { return columns(last: left) }
        return hasHeading ? blocks(width: width) : columns(last: nil)
    }

    /// The characters before the last column.
    private var indent: Int { widths.dropLast().reduce(0) { $0 + $1 + 2 } }

    private func columns(last: Int?) -> String {
        rows.enumerated().map { number, row in
            let isHeading = number == 0 && hasHeading
            let lead = zip(row.dropLast(), widths).map { entry, width in
                (isHeading ? Terminal.bold(entry) : entry) + String(repeating: " ", count: width - entry.count + 2)
            }.joined()
            let entry = row.last ?? ""
            let lines = last.map { Self.lines(entry, $0) } ?? [entry]
            let isLast = number == rows.count - 1
            return lines.enumerated().map { index, line in
                let start = index == 0 ? lead : String(repeating: " ", count: indent)
                let shown =
                    isHeading ? Terminal.bold(line) : Terminal.verdict(line, isGood: isLast ? verdict : nil)
                return start + shown + "\n"
            }.joined()
        }.joined()
    }

    /// Each row as a record of headings and entries, with an empty line between two rows. Of a table without rows the
    /// headings show that there is nothing.
    private func blocks(width: Int) -> String {
        guard let heading = rows.first else { return "" }
        guard rows.count > 1 else { return heading.map { Terminal.bold($0) + "\n" }.joined() }
        return rows.dropFirst().map { row in
            TableLayout(record: zip(heading, row).map { ($0, $1) }).text(width: width)
        }.joined(separator: "\n")
    }

    /// A record. Its names are printable already, and no heading although they are in capitals.
    private init(record: [(name: String, entry: String)]) {
        rows = record.map { [$0.name, $0.entry] }
        widths = [record.map(\.name.count).max() ?? 0, record.map(\.entry.count).max() ?? 0]
        hasHeading = false
        verdict = nil
    }

    /// A text in lines, broken at spaces, and within a word only if the word is longer than a line.
    static func lines(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !line.isEmpty, line.count + 1 + word.count <= width {
                line += " " + word
                continue
            }
            if !line.isEmpty { lines.append(line) }
            var rest = word
            while rest.count > width {
                lines.append(String(rest.prefix(width)))
                rest = rest.dropFirst(width)
            }
            line = String(rest)
        }
        return lines + [line]
    }
}
