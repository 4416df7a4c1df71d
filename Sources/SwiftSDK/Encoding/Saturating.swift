public extension Int64 {
    /// The whole part of a number, or the nearest value of this type; 0 for NaN. Swift's own conversion traps
    /// instead, and numbers may come from outside.
    init(saturating number: Double) {
        let whole = number.rounded(.towardZero)
        self = Self(exactly: whole) ?? (whole.isNaN ? 0 : whole < 0 ? .min : .max)
    }
}

// Not generic: generic code is not specialized for callers in other targets, and every check calls this.
public extension Int {
    /// The whole part of a number, or the nearest `Int`; 0 for NaN.
    init(saturating number: Double) {
        self.init(clamping: Int64(saturating: number))
    }
}
