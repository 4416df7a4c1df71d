extension FixedWidthInteger {
    /// The whole part of a number, or the nearest value that this type holds; 0 for what is no number. Swift's own
    /// conversion ends the process instead, and numbers may come from outside.
    package init(saturating number: Double) {
        let whole = number.rounded(.towardZero)
        self = Self(exactly: whole) ?? (whole.isNaN ? 0 : whole < 0 ? .min : .max)
    }
}
