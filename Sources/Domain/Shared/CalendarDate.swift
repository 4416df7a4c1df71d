import Encoding
import Foundation

/// A day of the Gregorian calendar (ISO 8601), without time or zone: dates of birth and expiry on cards.
///
/// Years 1 to 9999. Most are birthdays, so a date's description shows nothing; ``text`` does.
package struct CalendarDate: Sendable, Hashable, Comparable, Confidential {
    /// Year, month and day as decimal digits, so the numbers sort like the days.
    private let digits: Int32
}

package extension CalendarDate {
    /// The year, 1 to 9999.
    var year: Int { Int(digits) / 10_000 }
    /// The month, 1 to 12.
    var month: Int { Int(digits) / 100 % 100 }
    /// The day of the month, 1 to 31.
    var day: Int { Int(digits) % 100 }

    /// `nil` for a day that does not exist, such as 30 February.
    init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        digits = Int32(year * 10_000 + month * 100 + day)
    }

    /// The last day of a month; `nil` for a month that does not exist.
    init?(lastDayOf month: Int, year: Int) {
        guard (1...12).contains(month) else { return nil }
        self.init(year: year, month: month, day: Self.days(in: month, of: year))
    }

    /// The last day of a card that never expires.
    static let never = CalendarDate(digits: 9999_12_31)

    /// The UTC day of a point in time. West of Greenwich that day ends up to twelve hours later.
    init(utcDayOf instant: Date) {
        let days = min(2_932_896, max(-719_162, (instant.timeIntervalSince1970 / 86_400).rounded(.down)))
        let (year, month, day) = Date.civil(daysSince1970: Int(days))
        digits = Int32(year * 10_000 + month * 100 + day)
    }

    /// The day of a point in time in the westernmost time zone, UTC−12.
    init(earliestDayAt instant: Date) {
        self.init(utcDayOf: instant.addingTimeInterval(-Self.lastZone))
    }

    /// When the day has ended in every time zone.
    var endEverywhere: Date { next.start.addingTimeInterval(Self.lastZone) }

    private static let lastZone: TimeInterval = 12 * 3600

    /// Parses ``text``; `nil` for anything else.
    init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        var number = 0
        for (index, byte) in bytes.enumerated() where index != 4 && index != 7 {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        self.init(year: number / 10_000, month: number / 100 % 100, day: number % 100)
    }

    /// The ISO 8601 form, `1986-06-06`.
    var text: String {
        let padded = String(10_000_0000 + Int(digits)).dropFirst()
        return "\(padded.prefix(4))-\(padded.dropFirst(4).prefix(2))-\(padded.suffix(2))"
    }

    /// The age in whole years, on a given day, of a person born on this day; negative before the birth. In other
    /// years a person born on 29 February becomes a year older on 1 March.
    func age(on day: CalendarDate) -> Int {
        day.year - year - (day.month * 100 + day.day < month * 100 + self.day ? 1 : 0)
    }

    /// The moment at which the day begins in UTC.
    var start: Date {
        Date(timeIntervalSince1970: Double(Date.daysSince1970(year: year, month: month, day: day) * 86_400))
    }

    /// The next day; the last day of year 9999 is its own successor.
    var next: CalendarDate {
        CalendarDate(year: year, month: month, day: day + 1)
            ?? CalendarDate(year: year, month: month + 1, day: 1)
            ?? CalendarDate(year: year + 1, month: 1, day: 1)
            ?? self
    }

    static func < (left: CalendarDate, right: CalendarDate) -> Bool {
        left.digits < right.digits
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
