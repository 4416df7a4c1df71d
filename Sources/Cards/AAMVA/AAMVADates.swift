import Domain

/// Dates on AAMVA cards: MMDDCCYY in the US from the second edition on, CCYYMMDD in Canada and in the first edition.
///
/// No eight digits can be parsed both ways. A century is 19, 20, 21 or 99 (for cards that never expire), and a month is
/// never one of these.
struct AAMVADate {
    /// The orders of a date's parts.
    enum Order: Sendable {
        case monthDayYear
        case yearMonthDay
    }

    /// The parsed day; `nil` if the value is not a date.
    private(set) var day: CalendarDate?
    /// The latest day that a value of eight digits with an unknown day (`00`), or unknown month and day, can mean.
    private(set) var latestDay: CalendarDate?
    /// The order of its parts.
    private(set) var order: Order?
    /// Whether it has eight digits.
    private(set) var isEightDigits = true

    /// Parses a value: eight digits, fewer if zeros are missing, or three numbers with one of `/-. ` between them.
    init(_ value: ArraySlice<UInt8>) {
        guard value.count <= 12 else { return }
        var groups: [(number: Int, width: Int)] = [(0, 0)]
        for byte in value {
            if byte.isDigit {
                let last = groups[groups.count - 1]
                groups[groups.count - 1] = (last.number * 10 + Int(byte - UInt8(ascii: "0")), last.width + 1)
            } else if [0x2F, 0x2D, 0x2E, 0x20].contains(byte) {
                groups.append((0, 0))
            } else {
                return
            }
        }
        isEightDigits = groups.count == 1 && groups[0].width == 8
        switch groups.count {
        case 1: readRun(groups[0].number, width: groups[0].width)
        case 3 where groups[0].width == 4: take(groups[0].number, groups[1].number, groups[2].number, .yearMonthDay)
        case 3 where groups[2].width == 4: take(groups[2].number, groups[0].number, groups[1].number, .monthDayYear)
        default: break
        }
    }

    /// Parses one run of digits. Seven digits are a date without its leading zero, or with a month or day of one digit.
    /// Six are a date with a month and a day of one digit each.
    private mutating func readRun(_ run: Int, width: Int) {
        switch width {
        case 8:
            take(run / 10_000, run / 100 % 100, run % 100, .yearMonthDay)
            take(run % 10_000, run / 1_000_000, run / 10_000 % 100, .monthDayYear)
            takePart(run / 10_000, run / 100 % 100, run % 100)
            takePart(run % 10_000, run / 1_000_000, run / 10_000 % 100)
        case 7:
            take(run % 10_000, run / 1_000_000, run / 10_000 % 100, .monthDayYear)
            take(run % 10_000, run / 100_000, run / 10_000 % 10, .monthDayYear)
            take(run / 1000, run / 100 % 10, run % 100, .yearMonthDay)
            take(run / 1000, run / 10 % 100, run % 10, .yearMonthDay)
        case 6:
            take(run % 10_000, run / 100_000, run / 10_000 % 10, .monthDayYear)
            take(run / 100, run / 10 % 10, run % 10, .yearMonthDay)
        default: break
        }
    }

    /// Keeps the last day of a year or month, if the rest is unknown.
    private mutating func takePart(_ year: Int, _ month: Int, _ day: Int) {
        guard self.day == nil, latestDay == nil, day == 0, (1900...2199).contains(year) else { return }
        latestDay = CalendarDate(lastDayOf: month == 0 ? 12 : month, year: year)
    }

    /// Keeps the first interpretation that is a valid day.
    private mutating func take(_ year: Int, _ month: Int, _ day: Int, _ order: Order) {
        guard self.day == nil, (1900...2199).contains(year) || year == 9999 else { return }
        self.day = CalendarDate(year: year, month: month, day: day)
        if self.day != nil { self.order = order }
    }
}
