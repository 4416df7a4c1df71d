import Fixtures
import Foundation

/// A document of the project: its prose, its tables and its sections.
struct MarkdownDocument {
    /// The path from the repository's root.
    let path: String
    let text: String

    init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: RunningService.root.appending(path: path), encoding: .utf8)
    }

    /// Every `.md` file of the repository that version control would hold.
    static func all() throws -> [MarkdownDocument] {
        let root = RunningService.root
        let folders = [".github", "Sources", "Tests", "Keys", "Policies"].flatMap { folder in
            let paths = FileManager.default.subpaths(atPath: root.appending(path: folder).path) ?? []
            return paths.map { "\(folder)/\($0)" }
        }
        let atTheTop = try FileManager.default.contentsOfDirectory(atPath: root.path)
        return try (atTheTop + folders).filter { $0.hasSuffix(".md") }.sorted().map { try MarkdownDocument($0) }
    }

    /// The targets of the links to files, from the repository's root.
    func links() -> [String] {
        let folder = RunningService.root.appending(path: path).deletingLastPathComponent()
        return text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
            .filter { !$0.hasPrefix("https://") && !$0.hasPrefix("#") }
            .map { folder.appending(path: $0.prefix { $0 != "#" }).standardizedFileURL.path }
            .map { String($0.dropFirst(RunningService.root.standardizedFileURL.path.count + 1)) }
    }

    /// The text without its blocks of code, whose marks would be taken for those of words.
    var prose: String {
        var isCode = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            let isMark = line.drop { $0 == " " }.hasPrefix("```")
            if isMark { isCode.toggle() }
            return !isCode && !isMark
        }
        .joined(separator: "\n")
    }

    /// What follows a heading, up to the next of the same level; empty if there is none.
    func section(_ heading: String) -> String {
        guard let start = text.range(of: "\n## \(heading)\n") else { return "" }
        let rest = text[start.upperBound...]
        return String(rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)])
    }

    /// The cells of the first table in a text, without its head.
    static func rows(_ text: String) -> [[String]] {
        let lines = text.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        return lines.dropFirst(2).map { line in
            line.dropFirst().dropLast().replacing("\\|", with: "¦").split(
                separator: "|", omittingEmptySubsequences: false
            )
            .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// What stands between backticks.
    static func words(_ text: String) -> [String] {
        text.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The sentences of paragraphs and list items, with their first lines. Headings, tables and blocks of code are left
    /// out; what stands between backticks, and a link's target, count as one word or none.
    func sentences() -> [(line: Int, text: String)] {
        var found: [(Int, String)] = []
        var paragraph: (line: Int, text: String)?
        var isCode = false
        func end() {
            guard let whole = paragraph else { return }
            paragraph = nil
            let plain = whole.text.replacing(/`[^`]*`/, with: "X").replacing(/\]\([^)]*\)/, with: "]")
            for sentence in plain.split(separator: /[.!?]["”)*]*\s+/) { found.append((whole.line, String(sentence))) }
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                end()
                isCode.toggle()
            } else if isCode || line.hasPrefix("    ") && paragraph == nil {
                continue
            } else if line.isEmpty || line.hasPrefix("|") || line.hasPrefix("#") {
                end()
            } else if let item = line.prefixMatch(of: /\s*(?:[-*·]|[0-9]+\.)\s+/) {
                end()
                paragraph = (index + 1, String(line[item.range.upperBound...]))
            } else {
                paragraph = (paragraph?.line ?? index + 1, (paragraph.map { $0.text + " " } ?? "") + line)
            }
        }
        end()
        return found
    }
}
