import Database

// Only tests write values of columns as literals.

extension Value: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) {
        self = .null
    }
}

extension Value: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension Value: ExpressibleByFloatLiteral {
    package init(floatLiteral value: Double) {
        self = .real(value)
    }
}

extension Value: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension Value: ExpressibleByBooleanLiteral {
    /// A Boolean literal, as 0 or 1.
    package init(booleanLiteral value: Bool) {
        self = .integer(value ? 1 : 0)
    }
}
