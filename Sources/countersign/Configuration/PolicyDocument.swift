import Foundation
import Yams

/// A defect in a file that the operator wrote, and its place.
struct PolicyDefect: Error, Equatable, CustomStringConvertible {
    /// The file's path as the operator gave it.
    let file: String
    /// The line, counted from 1; `nil` for the file as a whole.
    let line: Int?
    /// The key or its path, such as `senders[1].account`; `nil` if the defect is not in one key.
    let key: String?
    let expected: String
    /// Whether the key is unknown; ``expected`` is then the sentence about it.
    var isUnknownKey = false

    /// Such as `FILE:LINE: key: what is expected`, or `FILE:LINE: unknown key 'kye'; did you mean 'key'?`.
    var description: String {
        let subject = isUnknownKey ? "" : key.map { "\($0): " } ?? ""
        return file + (line.map { ":\($0)" } ?? "") + ": " + subject + expected
    }
}

/// A YAML file (YAML 1.2) that is one mapping from names to values, with the line of each.
enum PolicyDocument {
    /// One name and its value.
    struct Entry {
        let key: String
        let line: Int
        let value: Node
    }

    static let maximumSize = 65_536

    /// Reads a file; an empty one has no entries.
    ///
    /// - Returns: the valid entries, and the defects.
    static func read(path: String) -> (entries: [Entry], defects: [PolicyDefect]) {
        func defect(_ line: Int?, _ key: String?, _ expected: String) -> PolicyDefect {
            PolicyDefect(file: path, line: line, key: key, expected: expected)
        }
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: maximumSize + 1)
        else {
            // Reading an empty file also returns no data.
            let isThere = FileManager.default.isReadableFile(atPath: path)
            return ([], isThere ? [] : [defect(nil, nil, "a file that can be read is expected")])
        }
        guard data.count <= maximumSize, let text = String(bytes: data, encoding: .utf8) else {
            return ([], [defect(nil, nil, "UTF-8 of at most \(maximumSize) bytes is expected")])
        }
        return read(text, path: path, isSetAside: false)
    }

    /// Parses a text. If a name is repeated, the parser returns nothing at all. The text is then parsed again with
    /// the later ones renamed, so that every other defect is reported too.
    private static func read(
        _ text: String, path: String, isSetAside: Bool
    ) -> (entries: [Entry], defects: [PolicyDefect]) {
        func defect(_ line: Int?, _ key: String?, _ expected: String) -> PolicyDefect {
            PolicyDefect(file: path, line: line, key: key, expected: expected)
        }
        do {
            guard let root = try compose(yaml: text) else { return ([], []) }
            // A file with only comments is one null.
            if let scalar = root.scalar, scalar.string.isEmpty { return ([], []) }
            guard let mapping = root.mapping else {
                return (
                    [], [defect(root.mark?.line, nil, "names and values, one \"name: value\" a line, are expected")]
                )
            }
            var entries: [Entry] = []
            var defects: [PolicyDefect] = []
            for (name, value) in mapping {
                if let scalar = name.scalar {
                    let key = scalar.string.prefix { $0 != setAside }
                    entries.append(Entry(key: String(key), line: scalar.mark?.line ?? 1, value: value))
                } else {
                    defects.append(defect(name.mark?.line, nil, "a plain name is expected before the colon"))
                }
            }
            return (entries, defects)
        } catch YamlError.duplicatedKeysInMapping(let names, let context) {
            var rest = text
            let defects = names.map { name in
                let places = settingAside(name, in: &rest)
                let again = places.dropFirst().map { " (again on line \($0))" }.joined()
                return defect(
                    places.first ?? context.mark.line, name, "occurs more than once\(again), once is expected")
            }
            guard !isSetAside, rest != text else { return ([], defects) }
            let others = read(rest, path: path, isSetAside: true)
            return (others.entries, defects + others.defects)
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _)
        {
            return ([], [defect(mark.line, nil, "YAML is expected (\(problem))")])
        } catch {
            return ([], [defect(nil, nil, "YAML is expected")])
        }
    }

    /// Marks a renamed name in a text that is parsed again; a private-use character.
    private static let setAside: Character = "\u{E000}"

    /// Renames every occurrence of a name but the first, and returns the lines of all, counted from 1. Names of the
    /// file's one mapping are at the beginning of their lines.
    private static func settingAside(_ name: String, in text: inout String) -> [Int] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var places: [Int] = []
        for (index, line) in lines.enumerated() {
            for (quote, written) in [("", name), ("\"", "\"\(name)"), ("'", "'\(name)")] {
                guard line.hasPrefix(written) else { continue }
                let rest = line.dropFirst(written.count)
                guard rest.hasPrefix(quote), rest.dropFirst(quote.count).drop(while: { $0 == " " }).first == ":" else {
                    continue
                }
                places.append(index + 1)
                if places.count > 1 { lines[index] = written[...] + String(setAside) + "\(places.count)" + rest }
            }
        }
        text = lines.joined(separator: "\n")
        return places
    }
}
