import Domain

/// Dates of a machine readable zone: six digits without a century (ICAO 9303-3 §4.8).
enum MachineReadableDate {
    /// A birthday, and whether the zone states it in full.
    struct Birth {
        let day: CalendarDate
        let isInFull: Bool
    }

    /// A birthday: the latest matching day that is not after today. If the day is unknown, or month and day are (`<<`
    /// or `00`), it is the latest possible day, so that no holder is made older. `nil` if the year is unknown or no
    /// such day exists.
    static func birth(_ field: ArraySlice<UInt8>, today: CalendarDate) -> Birth? {
        if let day = nearest(field, today: today, where: { $0 <= today }) { return Birth(day: day, isInFull: true) }
        guard let year = number(field.prefix(2)), isUnknown(field.suffix(2)) else { return nil }
        let middle = field.dropFirst(2).prefix(2)
        guard let month = isUnknown(middle) ? 0 : number(middle) else { return nil }
        let last = centuries(today).lazy.compactMap { century -> CalendarDate? in
            guard let first = CalendarDate(year: century + year, month: max(month, 1), day: 1), first <= today else {
                return nil
            }
            return CalendarDate(lastDayOf: month == 0 ? 12 : month, year: century + year)
        }.first
        return last.map { Birth(day: min($0, today), isInFull: false) }
    }

    /// The last day of validity, in this year, the 50 years before it or the 49 after it. A field of fillers means that
    /// the document never expires. So does 1 January 99 on identity cards of Spain.
    static func expiry(
        _ field: ArraySlice<UInt8>, of state: String?, _ format: MachineReadableFormat, today: CalendarDate
    ) -> CalendarDate? {
        let isSpain = state == "ESP" && format == .td1
        if field.allSatisfy({ $0 == UInt8(ascii: "<") }) || (isSpain && field.elementsEqual("990101".utf8)) {
            return .never
        }
        return nearest(field, today: today) { (today.year - 50..<today.year + 50).contains($0.year) }
    }

    /// The latest day with these digits that meets a condition.
    private static func nearest(
        _ field: ArraySlice<UInt8>, today: CalendarDate, where isPossible: (CalendarDate) -> Bool
    ) -> CalendarDate? {
        guard field.count == 6, let number = number(field) else { return nil }
        return centuries(today).lazy
            .compactMap { CalendarDate(year: $0 + number / 10_000, month: number / 100 % 100, day: number % 100) }
            .first(where: isPossible)
    }

    private static func centuries(_ today: CalendarDate) -> [Int] {
        let century = today.year / 100 * 100
        return [century + 100, century, century - 100]
    }

    private static func isUnknown(_ part: ArraySlice<UInt8>) -> Bool {
        part.elementsEqual("<<".utf8) || part.elementsEqual("00".utf8)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
