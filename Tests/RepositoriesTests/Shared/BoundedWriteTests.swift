import Database
import Fixtures
import Foundation
import Testing

@testable import Repositories

/// What an owner has in any number is changed in batches: a statement for all of it keeps every other writer waiting.
@Suite("Statements that change rows")
struct BoundedWriteTests {
    /// A statement of the sources that changes or deletes rows.
    private struct Write {
        let file: String
        let table: String
        /// With one space between any two words.
        let text: String

        /// Whether it names its rows by a limit, by a list from its caller, or by all columns of a key.
        func isBounded(_ keys: [Set<String>]) -> Bool {
            if text.contains("LIMIT") || text.contains(/IN \(?\\\(|FROM \(VALUES/) || text.contains(/\bid = 1\b/) {
                return true
            }
            let condition = text.split(separator: " WHERE ", maxSplits: 1).dropFirst().joined()
            let columns = Set(condition.matches(of: /(?:^|[( ])(\w+) = \$[0-9]/).map { String($0.1) })
            return keys.contains { $0.isSubset(of: columns) }
        }
    }

    /// The literal that a place of a file is in: to the end of the line, or of the lines, in quotation marks.
    private static func literal(around place: Range<String.Index>, in text: String) -> Substring {
        let line = text[..<place.lowerBound].lastIndex(of: "\n").map { text.index(after: $0) } ?? text.startIndex
        let end = text[place.upperBound...].firstIndex(of: "\n") ?? text.endIndex
        let before = text[line..<place.lowerBound]
        if before.contains("\"") || before.contains("//") { return text[line..<end] }
        let start = text[..<line].ranges(of: "\"\"\"").last?.upperBound ?? line
        let close = text[end...].firstRange(of: "\"\"\"")?.lowerBound ?? text.endIndex
        return text[start..<close]
    }

    /// The statements of a file. `UPDATE` of an upsert has no table.
    private static func writes(_ file: SourceFile) -> [Write] {
        file.text.matches(of: /(?:DELETE FROM|UPDATE) (\w+|\\\(table\))(?= SET|[ \n"])/).compactMap { match in
            guard match.output.1 != "SET" else { return nil }
            let literal = literal(around: match.range, in: file.text)
            // The start of a statement over rows by age, which has a limit; or a comment.
            guard !literal.contains(", of: \""), !literal.contains("///") else { return nil }
            return Write(
                file: file.path, table: String(match.output.1),
                text: literal.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
    }

    /// The columns of each table's keys.
    private static let keys: [String: [Set<String>]] = {
        var keys: [String: [Set<String>]] = [:]
        for statement in Schema.migrations.flatMap(\.statements) {
            guard let table = statement.firstMatch(of: /CREATE (?:TABLE|UNIQUE INDEX \w+ ON) (\w+) \(/) else {
                continue
            }
            var found = statement.matches(of: /(?:PRIMARY KEY|UNIQUE) \(([^)]*)\)/).map { $0.1 }
            found += statement.matches(of: /\n *(\w+) [^,\n]*(?:PRIMARY KEY|UNIQUE)(?! \()/).map { $0.1 }
            if statement.hasPrefix("CREATE UNIQUE"), !statement.contains(" WHERE ") {
                found += statement.matches(of: /\(([^)]*)\)$/).map { $0.1 }
            }
            keys[String(table.1), default: []] += found.map { columns in
                Set(columns.split { !($0.isLetter || $0 == "_") }.map(String.init))
            }
        }
        return keys
    }()

    @Test("name each row, have a limit, or are in a table with the reason why their rows are few")
    func bounded() throws {
        let writes = try SourceFile.all(below: "Sources/Repositories").flatMap(Self.writes)
        #expect(writes.count > 150)
        let parts = UnboundedWrite.reasons.values.flatMap(\.self)
        var unused = Set(parts)
        for write in writes where !write.isBounded(Self.keys[write.table] ?? []) {
            let found = parts.filter { write.text.contains($0) }
            #expect(!found.isEmpty, "\(write.file): \(write.text)")
            unused.subtract(found)
        }
        #expect(unused.isEmpty)
    }
}
