import Foundation

public extension Date {
    /// The RFC 3339 form in UTC with whole seconds, `2026-01-31T23:59:59Z`: the contract's form of every time.
    /// A year outside 0 to 9999, which RFC 3339 cannot express, becomes the nearest of these.
    var rfc3339: String {
        let seconds = Int(saturating: timeIntervalSince1970.rounded(.down))
        let (days, rest) = (seconds.dividingFloor(by: 86_400), seconds.remainderFloor(by: 86_400))
        let (year, month, day) = Self.civil(daysSince1970: days)
        // Written digit by digit for speed: every response and each line of the log has a time.
        return String(unsafeUninitializedCapacity: 20) { buffer in
            _ = buffer.initialize(from: "0000-00-00T00:00:00Z".utf8)
            func put(_ number: Int, _ places: Range<Int>) {
                var rest = number
                for place in places.reversed() {
                    buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
            }
            put(min(max(year, 0), 9999), 0..<4)
            put(month, 5..<7)
            put(day, 8..<10)
            put(rest / 3600, 11..<13)
            put(rest / 60 % 60, 14..<16)
            put(rest % 60, 17..<19)
            return 20
        }
    }

    /// Parses the RFC 3339 form in UTC, with or without a fraction of a second, which is dropped; `nil` for anything else.
    init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), Self.isFraction(bytes[19..<(bytes.count - 1)]) else {
            return nil
        }
        func number(_ places: Range<Int>) -> Int? { Int(String(decoding: bytes[places], as: UTF8.self)) }
        let separators: [Int: Unicode.Scalar] = [4: "-", 7: "-", 10: "T", 13: ":", 16: ":"]
        guard
            (0..<19).allSatisfy({ place in
                separators[place].map { bytes[place] == UInt8(ascii: $0) } ?? Self.isDigit(bytes[place])
            }),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        guard Self.civil(daysSince1970: days) == (year, month, day) else { return nil }
        self.init(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Whether bytes are nothing, or a point and digits.
    private static func isFraction(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.isEmpty || (bytes.count > 1 && bytes.first == UInt8(ascii: ".") && bytes.dropFirst().allSatisfy(isDigit))
    }

    /// Whole milliseconds since 1970-01-01T00:00:00Z: the store's form of every time.
    var milliseconds: Int64 {
        Int64(saturating: (timeIntervalSince1970 * 1000).rounded())
    }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The proleptic Gregorian date of a day number, by the era method (400 years have 146,097 days).
    static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.dividingFloor(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The day number of a proleptic Gregorian date, the inverse of ``civil(daysSince1970:)``. Years begin in March.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = shifted.dividingFloor(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int {
    fileprivate func dividingFloor(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    fileprivate func remainderFloor(by divisor: Int) -> Int {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
