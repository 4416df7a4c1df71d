import Database
import Domain
import Encoding
import Foundation

/// How the domain's values stand in columns.
extension Value {
    static func id<Kind>(_ identifier: Identifier<Kind>) -> Value { .text(identifier.description) }

    static func time(_ time: Date) -> Value { .integer(time.milliseconds) }

    static func time(_ time: Date?) -> Value { time.map { .integer($0.milliseconds) } ?? .null }

    static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
}

/// How columns become the domain's values again. A row that does not fit is a damaged store, not a caller's mistake.
extension Row {
    func id<Kind>(_ index: Int) throws -> Identifier<Kind> {
        guard let identifier = Identifier<Kind>(try text(index)[...]) else { throw DamagedRow(column: index) }
        return identifier
    }

    func digest(_ index: Int) throws -> Digest256 {
        guard let digest = Digest256(try bytes(index)) else { throw DamagedRow(column: index) }
        return digest
    }

    func time(_ index: Int) throws -> Date { Date(milliseconds: try integer(index)) }

    func timeOrNull(_ index: Int) throws -> Date? { try integerOrNull(index).map(Date.init(milliseconds:)) }

    func word<Word: RawRepresentable>(_ index: Int) throws -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: try text(index)) else { throw DamagedRow(column: index) }
        return word
    }
}

/// A row holds what this program never writes.
package struct DamagedRow: Error, Sendable {
    /// The column's position in the statement's list.
    package let column: Int
}

extension DamagedRow: CustomStringConvertible {
    /// One sentence for a log.
    package var description: String { "column \(column) of a row holds what this program never writes" }
}
