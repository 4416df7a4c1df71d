import Domain
import Fixtures
import Testing

@testable import Cards

@Suite("A barcode that contradicts itself")
struct BarcodeContradictionTests {
    private func contradicts(_ text: String) throws -> Bool {
        let assessment = CardAssessment(
            try .read(barcode: Array(text.utf8), today: today), at: today.noon, policy: CardPolicy(), displayName: nil)
        #expect(!assessment.failed.contains(.contradiction) || assessment.verdict == .inReview)
        return assessment.failed.contains(.contradiction)
    }

    /// What is replaced in an invented card of Virginia, what no card says in its place, and what honest ones do.
    private static let changes: [(old: String, wrong: [String], honest: [String])] = [
        (
            "\nDAYBRO", ["\nDAYPUR", "\nDAYQ", "\nDAYBRO\nDAZGOLD"],
            [
                "\nDAYBRN", "\nDAYbrown", "\nDAYBR", "\nDAY2", "\nDAYUNK", "\nDAYNONE", "\nDAYNOIR", "\nDAYHZL",
                "\nDAYCAFE", "\nDAYBLU\nDAZSDY", "\nDAYGY", "\nDAYBRO,",
            ]
        ),
        ("\nDDAF", ["\nDDAQ", "\nDDAYES"], ["\nDDAN", "\nDDAM", "\nDDAf", "\nDDA", "\nDDAF,"]),
        ("\nDDEN", ["\nDDEX", "\nDDE1"], ["\nDDEU", "\nDDEn", "\nDDE", "\nDDEN,"]),
        ("\nDDGN", ["\nDDGY"], ["\nDDGT", "\nDDGU"]),
        (
            "068 in", ["290 cm", "040 CM", "018 in", "110 in"],
            ["150 cm", "272 cm", "054 cm", "107 in", "068in", "510", "5'-10\"", "000 in"]
        ),
        ("\nDBC1", ["\nDAW012\nDBC1", "\nDAW999\nDBC1", "\nDAX003\nDBC1"], ["\nDAW095\nDBC1", "\nDAW000\nDBC1"]),
        ("\nDCSSAMPLE\nDDEN", ["\nDCSLEE\nDDET"], ["\nDCSWOLFESCHLEGEL\nDDET", "\nDCSLEE\nDDEN"]),
        (
            "\nDCSSAMPLE", ["\nDCS" + String(repeating: "AB", count: 20) + "C"],
            ["\nDCS" + String(repeating: "AB", count: 20)]
        ),
        (
            "\nDCSSAMPLE", ["\nDCSSAM\u{200B}PLE", "\nDCSSAM\u{202E}PLE"],
            ["\nDCSSAMPLE\u{200B}", "\n\u{FEFF}DCSSAMPLE", "\nDCSSAM\u{AD}PLE"]
        ),
        (
            "\nDBC1", ["\nDAAOTHER,MICHAEL\nDBC1"],
            [
                "\nDAASAMPLE,MICHAEL,JOHN,JR\nDBC1", "\nDAASAMP,MICHAEL\nDBC1", "\nDAAMICHAEL JOHN SAMPLE\nDBC1",
                "\nDAANONE\nDBC1",
            ]
        ),
        ("\nDDB06062024", ["\nDDB06062025"], ["\nDDB06052025", "\nDDB01011999", "\nDDB"]),
        ("ZV", ["ZT"], ["ZV"]),
        ("6360001000" + "02", ["636000100004"], ["636000100003", "636000100001"]),
        ("02DL", ["02ID"], ["02EN", "02DL"]),
        ("02DL0041", ["02DL9999"], ["02DL0000", "02DL1700"]),
    ]

    @Test(
        "by a code, a measure, a name or a header that no card has; honest cards that depart do not", arguments: 0..<15)
    func change(index: Int) throws {
        let text = try CardSpecimen.of().text
        let change = Self.changes[index]
        try #require(text.contains(change.old) && Self.changes.count == 15)
        for new in change.wrong { #expect(try contradicts(text.replacing(change.old, with: new)), "\(new)") }
        for new in change.honest { #expect(try !contradicts(text.replacing(change.old, with: new)), "\(new)") }
    }

    @Test("is written by an edition that does not exist, or that came after the card")
    func editions() throws {
        for version in 1...12 { #expect(try !contradicts(CardSpecimen.of(version: version).text)) }
        #expect(try contradicts(CardSpecimen.of(version: 13).text))
        for (year, isEarlier) in [(2019, true), (2020, false)] {
            let card = try CardSpecimen.of { $0.issue = CardSpecimen.day(year, 6, 6) }
            #expect(try contradicts(card.text) == isEarlier)
        }
    }

    @Test("is a licence of a child, but not an identity card")
    func youngDrivers() throws {
        func card(_ issue: CalendarDate, change: (inout CardSpecimen) -> Void = { _ in }) throws -> String {
            try CardSpecimen.of {
                ($0.birth, $0.issue) = (CardSpecimen.day(2008, 6, 16), issue)
                change(&$0)
            }.text
        }
        let (thirteen, fourteen) = (CardSpecimen.day(2022, 6, 15), CardSpecimen.day(2022, 6, 16))
        #expect(try contradicts(card(thirteen)))
        #expect(try !contradicts(card(fourteen)))
        #expect(try !contradicts(card(thirteen) { $0.subfile = "ID" }))
        #expect(try !contradicts(card(thirteen) { $0.replaced["DCA"] = "NONE" }))
    }

    @Test("has an address in a state that does not exist")
    func states() throws {
        for (state, postalCode, isImpossible) in [
            ("ZZ", "232690000", true), ("UK", "232690000", true), ("ZZ", "SW1A 1AA", false), ("SO", "830000000", false),
            ("AE", "090120000", false), ("PW", "969400000", false), ("VIRGINIA", "232690000", false),
        ] {
            let card = try CardSpecimen.of { ($0.replaced["DAJ"], $0.postalCode) = (state, postalCode) }
            #expect(try contradicts(card.text) == isImpossible, "\(state)")
        }
    }

    @Test("has a subfile of another jurisdiction than its issuer")
    func subfiles() throws {
        for jurisdiction in Jurisdiction.all where jurisdiction.code != "VA" {
            let text = try CardSpecimen.of(jurisdiction.code).text
            #expect(try !contradicts(text))
            #expect(try contradicts(text.replacing("Z" + jurisdiction.code.prefix(1), with: "ZX")))
        }
    }
}
