import Foundation

/// What a column holds or a parameter is given.
package enum Value: Sendable, Hashable {
    case null
    /// `BIGINT` or `INTEGER`; a truth value is 0 or 1.
    case integer(Int64)
    /// `DOUBLE PRECISION`, never not-a-number.
    case real(Double)
    /// `TEXT`, without U+0000, which not every engine can keep.
    case text(String)
    /// `BYTEA`.
    case bytes([UInt8])
}

extension Value {
    package init(_ integer: Int64?) {
        self = integer.map(Value.integer) ?? .null
    }

    package init(_ integer: Int?) {
        self = integer.map { .integer(Int64($0)) } ?? .null
    }

    /// A number with a fraction, or null.
    package init(_ real: Double?) {
        self = real.map(Value.real) ?? .null
    }

    package init(_ text: String?) {
        self = text.map(Value.text) ?? .null
    }

    /// Bytes, or null.
    package init(_ bytes: [UInt8]?) {
        self = bytes.map(Value.bytes) ?? .null
    }

    /// A truth value as 0 or 1, or null.
    package init(_ bool: Bool?) {
        self = bool.map { .integer($0 ? 1 : 0) } ?? .null
    }
}

extension Value: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) {
        self = .null
    }
}

extension Value: ExpressibleByIntegerLiteral {
    /// An integer written in the source.
    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension Value: ExpressibleByFloatLiteral {
    /// A number with a fraction written in the source.
    package init(floatLiteral value: Double) {
        self = .real(value)
    }
}

extension Value: ExpressibleByStringLiteral {
    /// A text written in the source.
    package init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension Value: ExpressibleByBooleanLiteral {
    /// A truth value written in the source, as 0 or 1.
    package init(booleanLiteral value: Bool) {
        self = .integer(value ? 1 : 0)
    }
}

extension Date {
    /// The time to the millisecond, as stores keep it: what is answered at once is what is read later.
    var inMilliseconds: Date { Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000) }
}
