import Domain

/// Dates of a machine readable zone: six digits without a century (ICAO 9303-3 §4.8).
enum MachineReadableDate {
    /// A birthday: the latest matching day that is not after today. `nil` if a part is unknown (`<`) or no day
    /// exists.
    static func birth(_ field: ArraySlice<UInt8>, today: CalendarDate) -> CalendarDate? {
        nearest(field, today: today) { $0 <= today }
    }

    /// A last day of validity, within the 50 years before this one, this one and the 49 after it.
    static func expiry(_ field: ArraySlice<UInt8>, today: CalendarDate) -> CalendarDate? {
        nearest(field, today: today) { (today.year - 50..<today.year + 50).contains($0.year) }
    }

    /// The latest day with these digits that meets a condition.
    private static func nearest(
        _ field: ArraySlice<UInt8>, today: CalendarDate, where isPossible: (CalendarDate) -> Bool
    ) -> CalendarDate? {
        guard field.count == 6, field.allSatisfy(\.isDigit) else { return nil }
        let number = field.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let century = today.year / 100 * 100
        return [century + 100, century, century - 100].lazy
            .compactMap { CalendarDate(year: $0 + number / 10_000, month: number / 100 % 100, day: number % 100) }
            .first(where: isPossible)
    }
}
