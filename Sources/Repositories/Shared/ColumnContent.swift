import Database
import Domain
import Encoding
import Foundation

/// A type that a column can contain: how it is bound to a parameter and read from a row.
///
/// A row that does not match is a damaged store, not a caller's mistake.
protocol ColumnContent: Sendable {
    /// The value that is bound to a parameter.
    var value: Value { get }

    /// Reads the column at a position of a row.
    ///
    /// - Throws: `StoreError.column` for another type, ``DamagedRow`` for what this program never writes.
    static func read(_ row: Row, _ index: Int) throws -> Self
}

/// A row contains a value that this program never writes.
package struct DamagedRow: Error, Sendable {
    /// The column's position in the statement's list.
    let column: Int
}

extension DamagedRow: CustomStringConvertible {
    package var description: String { "column \(column) of a row has a value that this program never writes" }
}

extension Optional: ColumnContent where Wrapped: ColumnContent {
    var value: Value { self?.value ?? .null }

    static func read(_ row: Row, _ index: Int) throws -> Wrapped? {
        if case .null = try row.value(index) { nil } else { try Wrapped.read(row, index) }
    }
}

extension String: ColumnContent {
    var value: Value { .text(self) }
    static func read(_ row: Row, _ index: Int) throws -> String { try row.text(index) }
}

extension Int64: ColumnContent {
    var value: Value { .integer(self) }
    static func read(_ row: Row, _ index: Int) throws -> Int64 { try row.integer(index) }
}

extension Int: ColumnContent {
    var value: Value { .integer(Int64(self)) }
    static func read(_ row: Row, _ index: Int) throws -> Int { Int(try row.integer(index)) }
}

/// Stored as an integer, 0 or 1.
extension Bool: ColumnContent {
    var value: Value { .integer(self ? 1 : 0) }
    static func read(_ row: Row, _ index: Int) throws -> Bool { try row.bool(index) }
}

extension [UInt8]: ColumnContent {
    var value: Value { .bytes(self) }
    static func read(_ row: Row, _ index: Int) throws -> [UInt8] { try row.bytes(index) }
}

/// Stored as an integer, in milliseconds since 1970.
extension Date: ColumnContent {
    var value: Value { .integer(milliseconds) }
    static func read(_ row: Row, _ index: Int) throws -> Date { Date(milliseconds: try row.integer(index)) }
}

/// Stored as its 32 bytes.
extension Digest256: ColumnContent {
    var value: Value { .bytes(bytes) }

    static func read(_ row: Row, _ index: Int) throws -> Digest256 {
        guard let digest = Digest256(try row.bytes(index)) else { throw DamagedRow(column: index) }
        return digest
    }
}

/// Stored as text, its 36 characters.
extension Identifier: ColumnContent {
    var value: Value { .text(description) }

    static func read(_ row: Row, _ index: Int) throws -> Identifier {
        guard let identifier = Identifier(try row.text(index)[...]) else { throw DamagedRow(column: index) }
        return identifier
    }
}

/// Stored as text, one of a fixed set.
extension ColumnContent where Self: RawRepresentable, RawValue == String {
    var value: Value { .text(rawValue) }

    static func read(_ row: Row, _ index: Int) throws -> Self {
        guard let word = Self(rawValue: try row.text(index)) else { throw DamagedRow(column: index) }
        return word
    }
}

extension OutboxOwner: ColumnContent {
    var value: Value { .text(text) }
    static func read(_ row: Row, _ index: Int) throws -> OutboxOwner { OutboxOwner(stored: try row.text(index)) }
}

extension Assurance: ColumnContent {}
extension AddressType: ColumnContent {}
extension AdminRole: ColumnContent {}
extension WaitingAct.Kind: ColumnContent {}
extension AccessTokenAlgorithm: ColumnContent {}
extension AuthenticatedUser.Suspension: ColumnContent {}
extension MessagingPermission.State: ColumnContent {}
extension MessageStream.Kind: ColumnContent {}
extension UserChange: ColumnContent {}
extension BanEntry.Origin: ColumnContent {}
extension Ban.Reason: ColumnContent {}
extension Ban.Scope: ColumnContent {}
extension Ban.SubjectKind: ColumnContent {}
extension CardStatus: ColumnContent {}
extension OutboxKind: ColumnContent {}
extension OutboxMessage.State: ColumnContent {}
extension ProviderKeyRecord.Origin: ColumnContent {}
extension Session.State: ColumnContent {}

extension Value {
    static func id<Kind>(_ identifier: Identifier<Kind>) -> Value { identifier.value }
    static func time(_ time: Date) -> Value { time.value }
    static func time(_ time: Date?) -> Value { time.value }
    static func optional(_ text: String?) -> Value { text.value }
}

extension Identifier {
    var bytes: [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }

    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }
}
