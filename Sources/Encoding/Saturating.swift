extension Int64 {
    /// The whole part of a number, or the nearest value of this type; 0 for NaN. Swift's own conversion traps
    /// instead, and numbers may come from outside.
    package init(saturating number: Double) {
        let whole = number.rounded(.towardZero)
        self = Self(exactly: whole) ?? (whole.isNaN ? 0 : whole < 0 ? .min : .max)
    }
}

// Not generic, because what is generic is not specialized for callers in other targets, and each check has one.
extension Int {
    /// The same for an `Int`.
    package init(saturating number: Double) {
        self.init(clamping: Int64(saturating: number))
    }
}
