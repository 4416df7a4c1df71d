import Foundation

/// The field `Retry-After` of a response (RFC 9110 §10.2.3).
enum RetryAfter {
    /// The statuses with which a receiver may name the time of the next request (RFC 6585 §4, RFC 9110 §15.6.4).
    static let statuses: Set<UInt> = [429, 503]

    /// The seconds from now, at least 0; `nil` if the field is neither a number nor a date.
    static func seconds(_ field: String?, now: Date) -> TimeInterval? {
        guard let field else { return nil }
        if !field.isEmpty, field.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return field.utf8.count <= 9 ? TimeInterval(field) : .infinity
        }
        return date(field).map { max(0, $0.timeIntervalSince(now)) }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The one date form that senders may use (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Date? {
        guard text.utf8.count == 29 else { return nil }
        let words = text.split(whereSeparator: { $0 == " " || $0 == ":" })
        guard words.count == 8, words[7] == "GMT",
            let month = months.firstIndex(of: String(words[2]))
        else { return nil }
        let numbers = [words[3], words[1], words[4], words[5], words[6]].compactMap { UInt16($0) }.map(Int.init)
        guard numbers.count == 5 else { return nil }
        var parts = DateComponents()
        parts.calendar = Calendar(identifier: .gregorian)
        parts.timeZone = TimeZone(secondsFromGMT: 0)
        (parts.year, parts.month, parts.day) = (numbers[0], month + 1, numbers[1])
        (parts.hour, parts.minute, parts.second) = (numbers[2], numbers[3], numbers[4])
        return parts.date
    }
}
