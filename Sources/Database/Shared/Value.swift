import Foundation

/// The value of a column or a parameter.
package enum Value: Sendable, Hashable {
    case null
    /// `BIGINT` or `INTEGER`; a Boolean is 0 or 1.
    case integer(Int64)
    /// `DOUBLE PRECISION`; a not-a-number is refused.
    case real(Double)
    /// `TEXT` without U+0000, which some engines cannot store.
    case text(String)
    case bytes([UInt8])
}

package extension Value {
    init(_ integer: Int64?) {
        self = integer.map(Value.integer) ?? .null
    }

    init(_ integer: Int?) {
        self = integer.map { .integer(Int64($0)) } ?? .null
    }

    /// A floating-point number, or null.
    init(_ real: Double?) {
        self = real.map(Value.real) ?? .null
    }

    init(_ text: String?) {
        self = text.map(Value.text) ?? .null
    }

    init(_ bytes: [UInt8]?) {
        self = bytes.map(Value.bytes) ?? .null
    }

    /// A Boolean as 0 or 1, or null.
    init(_ bool: Bool?) {
        self = bool.map { .integer($0 ? 1 : 0) } ?? .null
    }
}

extension Date {
    /// The time to the millisecond, as stores keep it, so that a value is the same before and after it is stored.
    var inMilliseconds: Date { Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000) }
}
