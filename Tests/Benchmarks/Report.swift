import Foundation

/// Collects the lines of a run, shows each as it comes, and writes them as a document.
final class Report {
    private struct Section: Encodable {
        let title: String
        let header: [String]
        var rows: [[String]] = []
    }

    private var sections: [Section] = []
    private var comparisons: [Comparison] = []
    private var rounds: [Round] = []

    func section(_ title: String, _ header: [String]) {
        sections.append(Section(title: title, header: header))
        Self.show("\n\(title)\n")
    }

    func row(_ cells: String...) {
        sections[sections.count - 1].rows.append(cells)
        Self.show("  " + cells.joined(separator: " · ") + "\n")
    }

    /// Keeps a figure for the summary.
    func compare(_ figure: String, _ own: Double, with peer: String, _ other: Double) {
        comparisons.append(Comparison(figure: figure, own: own, peer: peer, other: other))
    }

    /// Keeps what a median was taken of.
    func keep(_ round: Round) { rounds.append(round) }

    /// Writes the section that has all peers and aims, and shows it as a table.
    func summarize() {
        guard !comparisons.isEmpty else { return }
        section(
            Self.summary, ["figure", "own", "peer", "peer's", "ratio", "aim", "met"])
        sections[sections.count - 1].rows = comparisons.map { one in
            [
                one.figure, one.own.places(1), one.peer, one.other.places(1), one.ratio.places(2),
                one.aim.map(\.description) ?? "", one.isMet.map { $0 ? "yes" : "no" } ?? "",
            ]
        }
        Self.show(Self.aligned([sections[sections.count - 1].header] + sections[sections.count - 1].rows))
    }

    /// What was measured, as Markdown.
    func markdown(heading: String) -> String {
        sections.reduce(heading) { $0 + Self.markdown($1) }
    }

    /// A document of results in which what was measured replaces the sections of the same titles, each with its day. New
    /// sections come last.
    func markdown(replacingIn document: String, on day: String) -> String {
        let parts = document.components(separatedBy: Self.mark)
        // A summary is of a whole run.
        let sections = sections.filter { $0.title != Self.summary }
        var texts = Dictionary(
            sections.map { ($0.title, Self.markdown($0, note: "Measured alone on \(day).\n\n")) },
            uniquingKeysWith: { $1 })
        var text = parts[0]
        for part in parts.dropFirst() {
            let title = part.prefix { $0 != "\n" }
            text += texts.removeValue(forKey: String(title)) ?? Self.mark + part
        }
        return sections.reduce(text) { $0 + (texts.removeValue(forKey: $1.title) ?? "") }
    }

    private static let mark = "\n## "
    private static let summary = "Summary: beside the peers of the same run"

    private static func markdown(_ section: Section, note: String = "") -> String {
        var text = mark + "\(section.title)\n\n\(note)| " + section.header.joined(separator: " | ") + " |\n|"
        text += String(repeating: "---|", count: section.header.count) + "\n"
        for row in section.rows { text += "| " + row.joined(separator: " | ") + " |\n" }
        return text
    }

    /// What was measured, with each round, as JSON.
    func json() throws -> Data {
        struct Document: Encodable {
            let date: Date
            let processors: Int
            let sections: [Section]
            let rounds: [Round]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(
            Document(
                date: Date(), processors: ProcessInfo.processInfo.activeProcessorCount, sections: sections,
                rounds: rounds))
    }

    /// Rows in columns of equal width.
    private static func aligned(_ rows: [[String]]) -> String {
        let columns = rows.first?.count ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.reduce(into: "") { text, row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            text += "  " + cells.joined(separator: "  ") + "\n"
        }
    }

    private static func show(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

extension Double {
    /// With so many places.
    func places(_ count: Int) -> String { String(format: "%.\(count)f", self) }
}
