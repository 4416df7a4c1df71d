import Cards
import Domain
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("A specimen card")
struct SpecimenCardTests {
    /// Every jurisdiction in the table.
    private static let all = (UInt8(ascii: "A")...UInt8(ascii: "Z")).flatMap { first in
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).compactMap { second in
            Jurisdiction.of(code: String(decoding: [first, second], as: UTF8.self))
        }
    }

    @Test("of every jurisdiction passes every check, on the day when it is made")
    func passes() throws {
        #expect(Self.all.count > 60)
        let name = try #require(SpecimenCard.Name("Jane Q Sample"))
        for day in ["2026-11-22", "2028-02-29", "2027-12-31", "2030-01-01"] {
            let today = try #require(CalendarDate(day))
            let noon = today.start.addingTimeInterval(43_200)
            for jurisdiction in Self.all {
                let card = SpecimenCard(of: jurisdiction, name, now: noon)
                let assessed = CardAssessment(
                    try .read(barcode: Array(card.barcode.utf8), today: today), at: noon, policy: CardPolicy(),
                    displayName: "Jane Sample")
                #expect(assessed.failures.isEmpty, "\(jurisdiction.code) on \(day): \(assessed.failures)")
                #expect(assessed.verdict == .accepted)
            }
        }
    }

    @Test("takes names as people have them, and nothing that would end an element of the barcode")
    func names() throws {
        #expect(SpecimenCard.Name("Mary-Jane O'Neil van Dyke")?.text == "MARY-JANE O'NEIL VAN DYKE")
        #expect(SpecimenCard.Name("Mary Dyke")?.middle == nil)
        for (typed, printed) in [
            ("José Núñez", "JOSE NUNEZ"), ("Ada Müller", "ADA MULLER"), ("Sean O’Brien", "SEAN O'BRIEN"),
            ("Jose\u{301} Łódź‐Øst", "JOSE LODZ-OST"), ("Sukarno", "SUKARNO"),
        ] {
            #expect(SpecimenCard.Name(typed)?.text == printed)
        }
        for wrong in [
            "", " ", "A B\nDBB01011900", "Анна Sample", "A 1", "É\u{1E}", "A -",
            String(repeating: "A", count: 41) + " B",
        ] {
            #expect(SpecimenCard.Name(wrong) == nil, "\(wrong)")
        }
        #expect(SpecimenCard()?.barcode != SpecimenCard()?.barcode)
    }

    @Test("of a holder with one name is read as such a card")
    func oneName() throws {
        let (virginia, name) = (try #require(Jurisdiction.of(code: "VA")), try #require(SpecimenCard.Name("Sukarno")))
        let noon = Date()
        let today = CalendarDate(utcDayOf: noon)
        let card = SpecimenCard(of: virginia, name, now: noon)
        let assessed = CardAssessment(
            try .read(barcode: Array(card.barcode.utf8), today: today), at: noon, policy: CardPolicy(),
            displayName: "Sukarno")
        #expect(assessed.verdict == .accepted)
        #expect(assessed.checks.contains { $0.name == .name && $0.result == .passed })
    }

    @Test("is another person's each time, so that two users of one app may show cards of the same name")
    func people() throws {
        let (virginia, name) = (try #require(Jurisdiction.of(code: "VA")), try #require(SpecimenCard.Name("Jane Doe")))
        let births = (0..<50).map { _ in SpecimenCard(of: virginia, name, now: Date()).birth.text }
        #expect(Set(births).count > 40)
    }
}
