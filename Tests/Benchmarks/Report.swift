import Foundation

/// Collects the lines of a run, shows each as it comes, and writes them as a document.
final class Report {
    private var sections: [(title: String, header: [String], rows: [[String]])] = []

    func section(_ title: String, _ header: [String]) {
        sections.append((title, header, []))
        FileHandle.standardError.write(Data("\n\(title)\n".utf8))
    }

    func row(_ cells: String...) {
        sections[sections.count - 1].rows.append(cells)
        FileHandle.standardError.write(Data(("  " + cells.joined(separator: " · ") + "\n").utf8))
    }

    /// What was measured, as Markdown.
    func markdown(heading: String) -> String {
        var text = heading
        for section in sections {
            text += "\n## \(section.title)\n\n| " + section.header.joined(separator: " | ") + " |\n|"
            text += String(repeating: "---|", count: section.header.count) + "\n"
            for row in section.rows { text += "| " + row.joined(separator: " | ") + " |\n" }
        }
        return text
    }
}

extension Double {
    /// With so many places.
    func places(_ count: Int) -> String { String(format: "%.\(count)f", self) }
}
