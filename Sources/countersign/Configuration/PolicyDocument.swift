import Foundation
import Yams

/// What is wrong with a file that the operator wrote, and where.
struct PolicyDefect: Error, Equatable, CustomStringConvertible {
    /// The file's path as the operator knows it.
    let file: String
    /// Counted from 1; `nil` if the file as a whole is meant.
    let line: Int?
    /// The key or its path, such as `senders[1].account`; `nil` if it is not about one key.
    let key: String?
    let expected: String
    /// Whether the key is an unknown one; then ``expected`` names it.
    var isUnknownKey = false

    /// `FILE:LINE: key: what is expected`, or `FILE:LINE: unknown key 'kye'; did you mean 'key'?`.
    var description: String {
        let subject = isUnknownKey ? "" : key.map { "\($0): " } ?? ""
        return file + (line.map { ":\($0)" } ?? "") + ": " + subject + expected
    }
}

/// A YAML file (YAML 1.2) that is one mapping from names to values, read with the lines at which they stand.
enum PolicyDocument {
    /// One name and what stands for it.
    struct Entry {
        let key: String
        let line: Int
        let value: Node
    }

    static let maximumSize = 65_536

    /// Reads a file; an empty one has no entries.
    ///
    /// - Returns: the entries that could be read, and what stands in the way of more.
    static func read(path: String) -> (entries: [Entry], defects: [PolicyDefect]) {
        func defect(_ line: Int?, _ key: String?, _ expected: String) -> PolicyDefect {
            PolicyDefect(file: path, line: line, key: key, expected: expected)
        }
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: maximumSize + 1)
        else {
            // An empty file reads as nothing.
            let isThere = FileManager.default.isReadableFile(atPath: path)
            return ([], isThere ? [] : [defect(nil, nil, "a file that can be read is expected")])
        }
        guard data.count <= maximumSize, let text = String(bytes: data, encoding: .utf8) else {
            return ([], [defect(nil, nil, "UTF-8 of at most \(maximumSize) bytes is expected")])
        }
        return read(text, path: path, isSetAside: false)
    }

    /// Reads a text. Where a name stands in it twice the parser gives nothing at all: then it is read once more with the
    /// later ones set aside, so that every other fault is told, too.
    private static func read(
        _ text: String, path: String, isSetAside: Bool
    ) -> (entries: [Entry], defects: [PolicyDefect]) {
        func defect(_ line: Int?, _ key: String?, _ expected: String) -> PolicyDefect {
            PolicyDefect(file: path, line: line, key: key, expected: expected)
        }
        do {
            guard let root = try compose(yaml: text) else { return ([], []) }
            // A file of nothing but comments is one null.
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
                    places.first ?? context.mark.line, name, "stands there more than once\(again), once is expected")
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

    /// Stands behind a name that was set aside, in a text that is read a second time; of Unicode's private use.
    private static let setAside: Character = "\u{E000}"

    /// Renames every line's name but the first of its kind, and gives the lines of all, counted from 1. Names of the file's
    /// one mapping stand at the beginning of their lines.
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
