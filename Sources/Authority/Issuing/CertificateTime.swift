import Foundation
import SwiftASN1

/// `Time` of RFC 5280 §4.1.2.5: UTCTime through the year 2049, GeneralizedTime later; always whole seconds in UTC.
struct CertificateTime: DERSerializable {
    private let seconds: Int

    /// Truncates a time to the second.
    init(_ date: Date) {
        seconds = Int(date.timeIntervalSince1970.rounded(.down))
    }

    /// The time as a parser will read it.
    var date: Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }

    func serialize(into coder: inout DER.Serializer) throws {
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let second = seconds - day * 86_400
        let (year, month, dayOfMonth) = Self.civil(fromDays: day)
        let (hours, minutes, rest) = (second / 3600, second / 60 % 60, second % 60)
        if (1950..<2050).contains(year) {
            try coder.serialize(
                UTCTime(
                    year: year, month: month, day: dayOfMonth, hours: hours, minutes: minutes, seconds: rest))
        } else {
            try coder.serialize(
                GeneralizedTime(
                    year: year, month: month, day: dayOfMonth, hours: hours, minutes: minutes, seconds: rest,
                    fractionalSeconds: 0))
        }
    }

    /// The Gregorian date of a day counted from 1970-01-01: Howard Hinnant's `civil_from_days`. A calendar object
    /// would take most of the time of a long revocation list.
    private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }
}
