import Domain
import Fixtures
import Foundation
import Testing

@testable import Cards

@Suite("Dates")
struct CardDatesTests {
    private func birth(_ written: String, version: Int = 10, code: String = "VA") throws -> (String?, AAMVACard) {
        let card = try CardSpecimen.of(code, version: version) { $0.replaced["DBB"] = written }.read()
        return (card.identityCard.dateOfBirth?.text, card)
    }

    @Test(
        "on a card are read in both orders, with or without zeros and marks between",
        arguments: [
            ("01021986", "1986-01-02"), ("19860102", "1986-01-02"), ("1021986", "1986-01-02"), ("121986", "1986-01-02"),
            ("1986-1-2", "1986-01-02"), ("01/02/1986", "1986-01-02"), ("1.2.1986", "1986-01-02"),
            ("02292000", "2000-02-29"), ("12319999", "9999-12-31"), ("12252001", "2001-12-25"),
            ("20011225", "2001-12-25"), ("1986102", "1986-01-02"),
        ])
    func readable(written: String, day: String) throws {
        for code in ["VA", "ON"] {
            #expect(try birth(written, code: code).0 == day)
        }
    }

    @Test(
        "that are none are left out, and the departure is named",
        arguments: ["02301986", "00000000", "99999999", "13131986", "1986", "0606198", "ABCDEFGH", "06061886", "----"])
    func unreadable(written: String) throws {
        let (day, card) = try birth(written)
        #expect(day == nil)
        #expect(card.conformance.kinds.contains(.dateUnreadable))
    }

    @Test("of eight digits can be read in one way only")
    func unambiguous() throws {
        for month in 1...12 {
            for year in [1900, 1919, 1920, 1999, 2012, 2020, 2112] {
                let day = CardSpecimen.day(year, month, 12)
                let parts = day.text.split(separator: "-")
                #expect(try birth("\(parts[0])\(parts[1])\(parts[2])").0 == day.text)
                #expect(try birth("\(parts[1])\(parts[2])\(parts[0])").0 == day.text)
            }
        }
    }

    @Test("compare, count ages and follow each other as the calendar does")
    func calendar() throws {
        let leap = CardSpecimen.day(2004, 2, 29)
        #expect(leap.age(on: CardSpecimen.day(2022, 2, 28)) == 17)
        #expect(leap.age(on: CardSpecimen.day(2022, 3, 1)) == 18)
        #expect(leap.age(on: CardSpecimen.day(2024, 2, 29)) == 20)
        #expect(leap.age(on: CardSpecimen.day(2004, 2, 28)) == -1)
        #expect(leap.next == CardSpecimen.day(2004, 3, 1))
        #expect(CardSpecimen.day(2026, 12, 31).next == CardSpecimen.day(2027, 1, 1))
        #expect(CalendarDate(year: 1900, month: 2, day: 29) == nil)
        #expect(CalendarDate(year: 2026, month: 13, day: 1) == nil)
        #expect(CalendarDate("2026-11-21") == today)
        #expect(CalendarDate("0001-01-01")?.text == "0001-01-01")
        for text in ["2026-11-31", "2026-1-21", "20261121", "2026/11/21", "", "２026-11-21"] {
            #expect(CalendarDate(text) == nil)
        }
        #expect(CalendarDate(utcDayOf: Date(timeIntervalSince1970: 951_782_399)).text == "2000-02-28")
        #expect(CalendarDate(utcDayOf: Date(timeIntervalSince1970: 951_782_400)).text == "2000-02-29")
        for extreme in [Double.nan, .infinity, -.infinity, 1e300] {
            #expect((1...9999).contains(CalendarDate(utcDayOf: Date(timeIntervalSince1970: extreme)).year))
        }
    }

    @Test("follow each other without a gap over four hundred years")
    func successors() {
        var day = CardSpecimen.day(1900, 1, 1)
        var count = 0
        while day.year < 2300 {
            #expect(day < day.next)
            day = day.next
            count += 1
        }
        #expect(count == 146_097)
    }
}
