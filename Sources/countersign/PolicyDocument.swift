import Foundation
import Yams

/// What is wrong with a file that the operator wrote, and where.
struct PolicyDefect: Error, Equatable, CustomStringConvertible {
    /// The file's path as the operator knows it.
    let file: String
    /// Counted from 1; `nil` where the file as a whole is meant.
    let line: Int?
    /// `nil` where it is not about one key.
    let key: String?
    /// What is expected instead.
    let expected: String

    /// `FILE:LINE: key: what is expected`.
    var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": " + (key.map { "\($0): " } ?? "") + expected
    }
}

/// A YAML file (YAML 1.2) that is one mapping from names to values, read with the lines at which they stand.
enum PolicyDocument {
    /// One name and what stands for it.
    struct Entry {
        let key: String
        /// Counted from 1.
        let line: Int
        let value: Node
    }

    /// Larger files are refused.
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
                    entries.append(Entry(key: scalar.string, line: scalar.mark?.line ?? 1, value: value))
                } else {
                    defects.append(defect(name.mark?.line, nil, "a plain name is expected before the colon"))
                }
            }
            return (entries, defects)
        } catch YamlError.duplicatedKeysInMapping(let names, let context) {
            let line = context.mark.line
            return ([], names.map { defect(line, $0, "stands there more than once, once is expected") })
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _)
        {
            return ([], [defect(mark.line, nil, "YAML is expected (\(problem))")])
        } catch {
            return ([], [defect(nil, nil, "YAML is expected")])
        }
    }
}
