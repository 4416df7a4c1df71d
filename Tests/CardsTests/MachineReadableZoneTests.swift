import Fixtures
import Testing

@testable import Cards
@testable import Domain

@Suite("A machine readable zone")
struct MachineReadableZoneTests {
    private func assessed(_ zone: MachineReadableZone, on day: CalendarDate = today) -> CardAssessment {
        CardAssessment(.machineReadable(zone), at: day.noon, policy: CardPolicy(), displayName: "Anna Eriksson")
    }

    /// The specimens printed in ICAO 9303 parts 5, 6 and 4.
    static let printed: [(MachineReadableFormat, String)] = [
        (.td1, "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<"),
        (.td2, "I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<\nD231458907UTO7408122F1204159<<<<<<<6"),
        (.td3, "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10"),
    ]

    @Test("that the standard prints as its example is read, and all check digits fit", arguments: printed)
    func standardExamples(format: MachineReadableFormat, text: String) throws {
        let day = CardSpecimen.day(2011, 1, 1)
        for written in [
            text, text.replacing("\n", with: ""), text.replacing("\n", with: "\r\n") + "\r\n", text.lowercased(),
        ] {
            let zone = try MachineReadableZone.read(written, today: day)
            let card = zone.identityCard
            #expect(zone.format == format)
            #expect(card.source == .mrz)
            #expect(card.kind == (format == .td3 ? .passport : .identification))
            #expect(card.name.full == "ANNA MARIA ERIKSSON")
            #expect(card.documentNumber == (format == .td3 ? "L898902C3" : "D23145890"))
            #expect(card.dateOfBirth?.text == "1974-08-12")
            #expect(card.expiresOn?.text == "2012-04-15")
            #expect(card.sex == .female)
            #expect(card.country == "UTO")
            #expect(card.nationality == "UTO")
            #expect(zone.allCheckDigitsFit)
            // No state is called Utopia, and everybody knows its only citizen.
            #expect(assessed(zone, on: day).failed == [.issuer, .specimen])
            #expect(assessed(zone).failed == [.unexpired, .issuer, .specimen])
        }
    }

    @Test("keeps the source of each field")
    func provenance() throws {
        let zone = try MachineReadableZone.read(MachineReadableSpecimen(.td3).text, today: today)
        #expect(
            zone.identityCard.provenance(of: .documentNumber) == [
                CardField(element: "document_number", raw: "L898902C3", subfile: "TD3", property: .documentNumber)
            ])
        #expect(zone.identityCard.fields.contains { $0.element == "optional_data" && $0.raw == "ZE184226B<<<<<" })
    }

    @Test("of a long number reads on in the optional data", arguments: [MachineReadableFormat.td1, .td2])
    func longNumbers(format: MachineReadableFormat) throws {
        var specimen = MachineReadableSpecimen(format)
        for number in ["D23145890734", "D231458901", "D2314589073X4"] {
            specimen.number = number
            let zone = try MachineReadableZone.read(specimen.text, today: today)
            #expect(zone.identityCard.documentNumber == number)
            #expect(zone.allCheckDigitsFit)
        }
        // The standard's own example of a long number (ICAO 9303-5, appendix B).
        let text = "I<UTOD23145890<7349<<<<<<<<<<<\n3407127M9507122UTO<<<<<<<<<<<2\nSTEVENSON<<PETER<JOHN<<<<<<<<<"
        let zone = try MachineReadableZone.read(text, today: CardSpecimen.day(1990, 1, 1))
        #expect(zone.identityCard.documentNumber == "D23145890734")
        #expect(zone.allCheckDigitsFit)
    }

    @Test("with a check digit field but nothing behind it does not pass for a long number")
    func emptyOverflow() throws {
        let text = MachineReadableSpecimen(.td1).text.replacing("D231458907", with: "D23145890<")
        let zone = try MachineReadableZone.read(text, today: today)
        #expect(zone.checkDigits.first { $0.field == .documentNumber }?.fits == false)
    }

    @Test(
        "is rejected after any change of one character in the fields that digits cover",
        arguments: MachineReadableFormat.allCases)
    func changes(format: MachineReadableFormat) throws {
        let specimen = MachineReadableSpecimen(format)
        let good = Array(specimen.lines.joined().utf8)
        #expect(assessed(try MachineReadableZone.read(specimen.text, today: today)).verdict == .accepted)
        let covered: [Range<Int>] =
            switch format {
            case .td1: [5..<15, 30..<37, 38..<45, 59..<60]
            case .td2: [36..<46, 49..<56, 57..<64, 71..<72]
            case .td3: [44..<54, 57..<64, 65..<87, 87..<88]
            }
        for place in covered.flatMap({ $0 }) {
            // A step of one changes a sum by 7, 3 or 1, never by a multiple of ten.
            var bytes = good
            switch bytes[place] {
            case UInt8(ascii: "<"): bytes[place] = UInt8(ascii: "1")
            case UInt8(ascii: "9"), UInt8(ascii: "Z"): bytes[place] -= 1
            default: bytes[place] += 1
            }
            let zone = try MachineReadableZone.read(String(decoding: bytes, as: UTF8.self), today: today)
            #expect(assessed(zone).failed.contains(.checkDigits), "\(place)")
        }
    }

    @Test(
        "has its two-digit years resolved against today",
        arguments: [
            ("261120", "2026-11-20"), ("261121", "2026-11-21"), ("261122", "1926-11-22"), ("740812", "1974-08-12"),
            ("000229", "2000-02-29"), ("271231", "1927-12-31"),
        ])
    func births(written: String, day: String) throws {
        var specimen = MachineReadableSpecimen(.td3)
        specimen.birth = written
        #expect(try MachineReadableZone.read(specimen.text, today: today).identityCard.dateOfBirth?.text == day)
    }

    @Test(
        "has its expiry within fifty years of today",
        arguments: [
            ("270101", "2027-01-01"), ("751231", "2075-12-31"), ("760101", "1976-01-01"), ("991231", "1999-12-31"),
            ("261121", "2026-11-21"),
        ])
    func expiries(written: String, day: String) throws {
        var specimen = MachineReadableSpecimen(.td2)
        specimen.expiry = written
        #expect(try MachineReadableZone.read(specimen.text, today: today).identityCard.expiresOn?.text == day)
        #expect(
            try MachineReadableZone.read(specimen.text, today: CardSpecimen.day(2099, 1, 1)).identityCard.expiresOn
                != nil)
    }

    @Test(
        "with a birthday of which day or month are unknown counts as the latest possible one, in review",
        arguments: [
            ("7408<<", "1974-08-31"), ("74<<<<", "1974-12-31"), ("740200", "1974-02-28"), ("740000", "1974-12-31"),
            ("26<<<<", "2026-11-21"), ("2612<<", "1926-12-31"),
        ])
    func partialBirthday(birth: String, latest: String) throws {
        var specimen = MachineReadableSpecimen(.td1)
        specimen.birth = birth
        let zone = try MachineReadableZone.read(specimen.text, today: today)
        #expect(zone.identityCard.dateOfBirth?.text == latest)
        #expect(!zone.identityCard.isBirthdayInFull)
        let assessment = assessed(zone)
        #expect(assessment.failed.contains(.birthday))
        #expect(assessment.verdict == (latest.hasPrefix("2026") ? .rejected : .inReview))
        // Eighteen is reached on the last day of the year, not on the first.
        specimen.birth = "08<<<<"
        #expect(assessed(try MachineReadableZone.read(specimen.text, today: today)).failed.contains(.minimumAge))
    }

    @Test("without expiry never expires, nor does a Spanish card of 1 January 99")
    func neverExpires() throws {
        for (format, state, expiry) in [
            (MachineReadableFormat.td1, "NOR", "<<<<<<"), (.td2, "NOR", "<<<<<<"), (.td1, "ESP", "990101"),
        ] {
            var specimen = MachineReadableSpecimen(format)
            (specimen.state, specimen.nationality, specimen.expiry) = (state, state, expiry)
            let zone = try MachineReadableZone.read(specimen.text, today: today)
            #expect(zone.identityCard.expiresOn == .never)
            #expect(assessed(zone).verdict == .accepted)
        }
        var other = MachineReadableSpecimen(.td1)
        other.expiry = "990101"
        #expect(assessed(try MachineReadableZone.read(other.text, today: today)).failed == [.unexpired])
    }

    @Test("of a long number has its digit over the number alone, or over the filler within it too")
    func longNumberDigit() throws {
        let text = "I<PRT123456789<ZZ45<<<<<<<<<<<\n7408122F3104150PRT<<<<<<<<<<<6\nSAMPLER<<ANNA<<<<<<<<<<<<<<<<<"
        let zone = try MachineReadableZone.read(text, today: today)
        #expect(zone.identityCard.documentNumber == "123456789ZZ4")
        #expect(zone.allCheckDigitsFit)
        let alone = text.replacing("ZZ45", with: "ZZ41").replacing("<6\n", with: "<4\n")
        let fields = try MachineReadableZone.read(alone, today: today).checkDigits
        #expect(fields.first { $0.field == .documentNumber }?.fits == true)
        let wrong = try MachineReadableZone.read(text.replacing("ZZ45", with: "ZZ46"), today: today)
        #expect(wrong.checkDigits.first { $0.field == .documentNumber }?.fits == false)
    }

    @Test("with a birthday whose year is unknown, or that no calendar has, is rejected, not guessed")
    func unknownBirthday() throws {
        for birth in ["740230", "<<<<<<", "74<<12", "7413<<"] {
            var specimen = MachineReadableSpecimen(.td1)
            specimen.birth = birth
            let zone = try MachineReadableZone.read(specimen.text, today: today)
            #expect(zone.identityCard.dateOfBirth == nil)
            #expect(assessed(zone).failed == [.dateOrder, .minimumAge, .mandatoryElements])
        }
    }

    @Test("whose name fills its field may be cut off")
    func truncation() throws {
        var specimen = MachineReadableSpecimen(.td1)
        (specimen.family, specimen.given) = ("PAPANDROPOULOUS", "JONATHON<ALEXANDER")
        let zone = try MachineReadableZone.read(specimen.text, today: today)
        #expect(zone.identityCard.name.middleTruncation == .truncated)
        specimen.given = "ALEXANDROPOULOSSON"
        let cut = try MachineReadableZone.read(specimen.text, today: today)
        let assessment = CardAssessment(
            .machineReadable(cut), at: today.noon, policy: CardPolicy(),
            displayName: "Alexandropoulosson Papandropoulous")
        #expect(assessment.result(.name) == .passed)
    }

    @Test("without a family name, or without given ones, counts; without any name it does not")
    func oneName() throws {
        for format in MachineReadableFormat.allCases {
            var specimen = MachineReadableSpecimen(format)
            specimen.family = ""
            let zone = try MachineReadableZone.read(specimen.text, today: today)
            #expect(zone.identityCard.name.family == nil)
            #expect(zone.identityCard.name.full == "ANNA MARIA")
            #expect(assessed(zone).failed.isEmpty)
            #expect(CardFacts(zone.identityCard)?.fullName == "ANNA MARIA")
            (specimen.family, specimen.given) = ("ERIKSSON", "")
            #expect(assessed(try MachineReadableZone.read(specimen.text, today: today)).failed.isEmpty)
            specimen.family = ""
            let nameless = assessed(try MachineReadableZone.read(specimen.text, today: today))
            #expect(nameless.failed.contains(.mandatoryElements))
            #expect(nameless.verdict == .rejected)
        }
    }

    @Test("of a French card of two lines by 36 is told as not supported; that of the card after it is read")
    func french() throws {
        let old = "IDFRASAMPLE<<<<<<<<<<<<<<<<<<<75P001\n1001752031234MICHEL<<JEAN<<8606067M2"
        let refusal = #expect(throws: Refusal.self) { try MachineReadableZone.read(old, today: today) }
        #expect(refusal?.code == .malformedRequest)
        #expect(refusal?.detail.contains("not supported") == true)
        var specimen = MachineReadableSpecimen(.td1)
        (specimen.code, specimen.state, specimen.nationality) = ("ID", "FRA", "FRA")
        #expect(assessed(try MachineReadableZone.read(specimen.text, today: today)).failed.isEmpty)
    }

    @Test("that is none is refused as malformed")
    func malformed() {
        let good = MachineReadableSpecimen(.td3).text
        let texts = [
            "", "P<UTO", String(good.dropLast()), good + "<", good.replacing("ERIKSSON", with: "ERIKSS0Ñ"),
            good.replacing("P<NOR", with: "V<NOR"),
            MachineReadableSpecimen(.td1).text.replacing("I<NOR", with: "X<NOR"),
            MachineReadableSpecimen(.td2).text.replacing("I<NOR", with: "IVNOR"), good + good + good + good,
            good.replacing("<<ANNA", with: "«ANNA"),
        ]
        for text in texts {
            let refusal = #expect(throws: Refusal.self) { try MachineReadableZone.read(text, today: today) }
            #expect(refusal?.code == .malformedRequest)
        }
    }

    @Test("with a letter outside A to Z has its length counted by nobody: the letter is what is wrong")
    func foreignLetter() {
        for format in MachineReadableFormat.allCases {
            let good = MachineReadableSpecimen(format).text
            for bad in [good.replacing("E", with: "É"), good.replacing("<", with: "‹"), good + "Ü"] {
                let refusal = #expect(throws: Refusal.self) { try MachineReadableZone.read(bad, today: today) }
                #expect(refusal?.detail == Refusal.wrongZoneCharacter.detail)
            }
        }
    }
}
