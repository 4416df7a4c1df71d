/// What a column holds or a parameter is given.
public enum Value: Sendable, Equatable {
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
    /// An integer, or null.
    public init(_ integer: Int64?) {
        self = integer.map(Value.integer) ?? .null
    }

    /// An integer, or null.
    public init(_ integer: Int?) {
        self = integer.map { .integer(Int64($0)) } ?? .null
    }

    /// A number with a fraction, or null.
    public init(_ real: Double?) {
        self = real.map(Value.real) ?? .null
    }

    /// A text, or null.
    public init(_ text: String?) {
        self = text.map(Value.text) ?? .null
    }

    /// Bytes, or null.
    public init(_ bytes: [UInt8]?) {
        self = bytes.map(Value.bytes) ?? .null
    }

    /// A truth value as 0 or 1, or null.
    public init(_ bool: Bool?) {
        self = bool.map { .integer($0 ? 1 : 0) } ?? .null
    }
}

extension Value: ExpressibleByNilLiteral {
    /// Null.
    public init(nilLiteral: ()) {
        self = .null
    }
}

extension Value: ExpressibleByIntegerLiteral {
    /// An integer written in the source.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension Value: ExpressibleByFloatLiteral {
    /// A number with a fraction written in the source.
    public init(floatLiteral value: Double) {
        self = .real(value)
    }
}

extension Value: ExpressibleByStringLiteral {
    /// A text written in the source.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension Value: ExpressibleByBooleanLiteral {
    /// A truth value written in the source, as 0 or 1.
    public init(booleanLiteral value: Bool) {
        self = .integer(value ? 1 : 0)
    }
}
