import Cards
import Domain
import Fixtures
import Testing

@Suite("A card that contradicts itself")
struct ContradictionTests {
    private func assessed(_ text: String) throws -> CardAssessment {
        CardAssessment(
            try .read(barcode: Array(text.utf8), today: today), at: today.noon, policy: CardPolicy(), displayName: nil)
    }

    private func assessed(_ zone: MachineReadableSpecimen) throws -> CardAssessment {
        CardAssessment(
            .machineReadable(try MachineReadableZone.read(zone.text, today: today)), at: today.noon,
            policy: CardPolicy(), displayName: nil)
    }

    @Test("goes to review, whatever it says against itself")
    func values() throws {
        let changes: [(String, (inout CardSpecimen) -> Void)] = [
            ("sex", { $0.replaced["DBC"] = "7" }), ("issue", { $0.replaced["DBD"] = "02302024" }),
            ("validity", { $0.expiry = CardSpecimen.day(2084, 6, 7) }),
            ("age", { $0.birth = CardSpecimen.day(1908, 1, 1) }), ("revision", { $0.replaced["DDB"] = "01012030" }),
            ("digits", { $0.family = "SAMP1E9" }), ("scripts", { $0.family = "SA\u{41C}PLE" }),
            ("scripts of two names", { $0.given = "\u{418}\u{412}\u{410}\u{41D}" }), ("length", { $0.number = "1" }),
        ]
        for (name, change) in changes {
            let assessment = try CardSpecimen.of(change: change).assessed(displayName: nil)
            #expect(assessment.failed.contains(.contradiction), "\(name)")
            #expect(assessment.failed.isSubset(of: [.contradiction, .conformance, .numberFormat]), "\(name)")
            #expect(assessment.verdict == .inReview, "\(name)")
        }
    }

    @Test("has an element twice with two values, in one subfile or in two")
    func twice() throws {
        let text = try CardSpecimen.of().text
        for other in ["DBB06161987", "DCSOTHER", "DAQT64235780", "DBC2", "DBA12102033"] {
            #expect(try assessed(text.replacing("\nDBC1", with: "\n\(other)\nDBC1")).failed.contains(.contradiction))
            let both = try assessed(text + "ID\(other)\nDACMICHAEL\r")
            #expect(both.failed.contains(.contradiction), "\(other)")
            #expect(both.verdict == .inReview)
        }
        for same in ["DBB06161986", "DCSsample", "DAD", "DADNONE", "DCFANOTHER", "DBC1"] {
            let assessment = try assessed(text.replacing("\nDBC1", with: "\n\(same)\nDBC1"))
            #expect(!assessment.failed.contains(.contradiction), "\(same)")
        }
    }

    @Test("denies its birthday by the days of reaching 18, 19 or 21")
    func ages() throws {
        let text = try CardSpecimen.of().text
        func failed(_ elements: String) throws -> Bool {
            try assessed(text.replacing("\nDBC1", with: "\n\(elements)\nDBC1")).failed.contains(.contradiction)
        }
        #expect(try !failed("DDH06162004\nDDI06162005\nDDJ06162007"))
        #expect(try !failed("DDH06152004\nDDI06172005\nDDJ00000000"))
        for wrong in ["DDH06162008", "DDI06162004", "DDJ01012007", "DDJ20070618"] { #expect(try failed(wrong)) }
    }

    @Test("is not one that is unusual, but fair")
    func fair() throws {
        let changes: [(inout CardSpecimen) -> Void] = [
            { $0.suffix = "3RD" }, { $0.family = "O'NEIL-DE LA CRUZ" }, { $0.given = "KE\u{2BB}ALOHA" },
            { $0.expiry = CardSpecimen.day(2073, 6, 6) }, { $0.birth = CardSpecimen.day(1922, 1, 1) },
            { $0.replaced["DBA"] = "99999999" }, { $0.replaced["DBD"] = "NONE" }, { $0.replaced["DBC"] = "X" },
            { $0.replaced["DDB"] = "" }, { $0.family = "GAGN\u{C9}" }, { $0.number = "123456" },
        ]
        for change in changes {
            for version in [1, 3, 10] {
                let assessment = try CardSpecimen.of(version: version, change: change).assessed(displayName: nil)
                #expect(!assessment.failed.contains(.contradiction))
            }
        }
    }

    @Test("says so in a sentence that names what, and no datum")
    func sentence() throws {
        let assessment = try CardSpecimen.of {
            ($0.family, $0.replaced["DBC"]) = ("SAMP1E9", "7")
        }.assessed(displayName: nil)
        #expect(
            assessment.failures.map(\.detail) == [
                "The card contradicts itself: the sex is not a code of the standard; a name has digits."
            ])
    }

    @Test("has a sex that no zone has")
    func zoneSex() throws {
        var zone = MachineReadableSpecimen(.td3)
        for sex in ["M", "F", "<", "X"] {
            zone.sex = sex
            #expect(try assessed(zone).failed.isEmpty)
        }
        zone.sex = "Z"
        #expect(try assessed(zone).failed == [.contradiction])
        #expect(try assessed(zone).verdict == .inReview)
    }

    /// Invented persons' numbers, made with python-stdnum, for a birthday of 22 August 1974: format, state, and both
    /// fields of optional data.
    private static let numbers: [(MachineReadableFormat, String, String, String)] = [
        (.td1, "BEL", "", "74082200176"), (.td1, "EST", "47408220019", ""), (.td3, "SWE", "197408221237", ""),
        (.td2, "ROU", "2401234", ""), (.td3, "ROU", "2740822401234", ""), (.td1, "BGR", "", "7408221237"),
        (.td1, "LTU", "47408220008", ""), (.td3, "POL", "74082200018", ""), (.td3, "CZE", "7458221012", ""),
        (.td3, "SVK", "7478221014", ""),
        (.td1, "ESP", "12345678Z", ""), (.td1, "ESP", "X1234567L", ""), (.td1, "HRV", "12345678903", ""),
    ]

    @Test("has a national number with a wrong check digit, or with another birthday", arguments: numbers)
    func nationalNumber(format: MachineReadableFormat, state: String, optional: String, further: String) throws {
        var zone = MachineReadableSpecimen(format)
        (zone.state, zone.nationality, zone.sex) = (state, state, "<")
        (zone.optionalData, zone.furtherOptionalData) = (optional, further)
        #expect(try assessed(zone).failed.isEmpty)
        zone.birth = "740823"
        let hasBirthday = !["ESP", "HRV"].contains(state)
        #expect(try assessed(zone).failed == (hasBirthday ? [.contradiction] : []))
        zone.birth = "740822"
        func bent(_ number: String) -> String {
            guard let last = number.last else { return number }
            return String(number.dropLast()) + (last == "Z" ? "T" : last == "L" ? "M" : last == "9" ? "8" : "9")
        }
        (zone.optionalData, zone.furtherOptionalData) = (bent(optional), bent(further))
        #expect(try assessed(zone).failed == [.contradiction])
        // What is no number of the form, or another state's, is nobody's contradiction.
        (zone.optionalData, zone.furtherOptionalData) = (String(optional.dropLast(3)), String(further.dropLast(3)))
        #expect(try assessed(zone).failed.isEmpty)
        (zone.state, zone.optionalData, zone.furtherOptionalData) = ("NOR", bent(optional), bent(further))
        #expect(try assessed(zone).failed.isEmpty)
    }

    @Test(
        "has a national number of another sex",
        arguments: [
            (MachineReadableFormat.td1, "BEL", "", "74082200176", "M"), (.td1, "BEL", "", "74082200275", "F"),
            (.td1, "EST", "37408220007", "", "M"), (.td1, "EST", "47408220008", "", "F"),
            (.td1, "LTU", "37408220007", "", "M"), (.td1, "LTU", "47408220008", "", "F"),
            (.td3, "SWE", "197408221211", "", "M"), (.td3, "SWE", "197408221203", "", "F"),
            (.td3, "ROU", "1740822401005", "", "M"), (.td2, "ROU", "2401007", "", "F"),
            (.td1, "BGR", "", "7408220605", "M"), (.td1, "BGR", "", "7408220610", "F"),
            (.td3, "POL", "74082200018", "", "M"), (.td3, "POL", "74082200001", "", "F"),
            (.td3, "CZE", "7408221007", "", "M"), (.td3, "CZE", "7458221012", "", "F"),
            (.td3, "SVK", "7478221014", "", "F"),
        ])
    func nationalSex(format: MachineReadableFormat, state: String, optional: String, further: String, sex: String)
        throws
    {
        var zone = MachineReadableSpecimen(format)
        (zone.state, zone.nationality, zone.sex) = (state, state, sex)
        (zone.optionalData, zone.furtherOptionalData) = (optional, further)
        #expect(try assessed(zone).failed.isEmpty)
        zone.sex = "X"
        #expect(try assessed(zone).failed.isEmpty)
        zone.sex = sex == "M" ? "F" : "M"
        #expect(try assessed(zone).failed == [.contradiction])
    }

    @Test("is a passport that is valid for longer than any state's")
    func passportValidity() throws {
        for (format, expiry, isImpossible) in [
            (MachineReadableFormat.td3, "411120", false), (.td3, "420101", true), (.td1, "420101", false),
        ] {
            var zone = MachineReadableSpecimen(format)
            zone.expiry = expiry
            #expect(try assessed(zone).failed == (isImpossible ? [.contradiction] : []))
        }
    }

    @Test("of a state without a code of ICAO is rejected", arguments: ["UTO", "XYZ", "QQQ", "YUG"])
    func unknownStates(code: String) throws {
        for format in MachineReadableFormat.allCases {
            var zone = MachineReadableSpecimen(format)
            zone.state = code
            #expect(try assessed(zone).failed == [.issuer])
            #expect(try assessed(zone).verdict == .rejected)
            (zone.state, zone.nationality) = ("NOR", code)
            #expect(try assessed(zone).failed == [.issuer])
        }
    }

    @Test(
        "is not one of a state, an organization or a person without a state",
        arguments: [
            ("D<<", "D<<"), ("GBR", "GBN"), ("UNO", "XXA"), ("RKS", "RKS"), ("EUE", "FRA"), ("TWN", "TWN"),
            ("NOR", "<<<"),
        ])
    func knownStates(state: String, nationality: String) throws {
        var zone = MachineReadableSpecimen(.td3)
        (zone.state, zone.nationality) = (state, nationality)
        #expect(try assessed(zone).failed.isEmpty)
    }

    @Test("is a published specimen's with another birthday and the number of the specimen")
    func specimensOfAnotherAge() throws {
        let barcode = try CardSpecimen.of {
            ($0.birth, $0.number) = (CardSpecimen.day(1979, 3, 4), "T64235789")
        }
        #expect(try barcode.assessed().failed == [.specimen])
        var zone = MachineReadableSpecimen(.td1)
        (zone.code, zone.state, zone.nationality) = ("ID", "D<<", "D<<")
        (zone.family, zone.given, zone.number, zone.birth) = ("MUSTERMANN", "ERIKA", "L01X00T47", "710203")
        #expect(try assessed(zone).failed == [.specimen])
        zone.number = "L01X00T48"
        #expect(try assessed(zone).failed.isEmpty)
        (zone.family, zone.number) = ("MUSTERFRAU", "L01X00T47")
        #expect(try assessed(zone).failed.isEmpty)
    }

    @Test("is a published specimen's with new dates, and waits for a reviewer")
    func specimens() throws {
        let barcode = try CardSpecimen.of {
            ($0.birth, $0.number) = (CardSpecimen.day(1986, 6, 6), "T64235780")
        }
        #expect(try barcode.assessed().failed == [.specimen])
        #expect(try barcode.assessed().verdict == .inReview)
        for format in MachineReadableFormat.allCases {
            var zone = MachineReadableSpecimen(format)
            zone.birth = "740812"
            #expect(try assessed(zone).failed == [.specimen])
            #expect(try assessed(zone).verdict == .inReview)
        }
    }
}
