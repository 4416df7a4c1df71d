import Cards
import Domain
import Fixtures
import Foundation
import Testing

@Suite("A barcode that holds the tracks of a magnetic stripe")
struct MagneticStripeTests {
    /// An invented person's, as British Columbia writes it.
    private static let victoria =
        "%BCVICTORIA^SAMPLE,$MICHAEL JOHN^12 MAIN ST$VICTORIA BC  V8W 1P6^?;6360281234567=321219860616=?"
        + "_%0AV8W1P6                     M183 72BRNBRO9876543210                ?"

    private func read(_ text: String) throws -> ScannedCard { try .read(barcode: Array(text.utf8), today: today) }

    private func assessed(_ text: String, displayName: String? = "Michael Sample") throws -> CardAssessment {
        CardAssessment(try read(text), at: today.noon, policy: CardPolicy(), displayName: displayName)
    }

    @Test("of British Columbia is read and counts")
    func britishColumbia() throws {
        let card = try read(Self.victoria).identityCard
        #expect(card.name == PersonName(family: "SAMPLE", given: "MICHAEL", middle: "JOHN"))
        #expect(card.dateOfBirth?.text == "1986-06-16")
        #expect(card.expiresOn?.text == "2032-12-31")
        #expect(card.documentNumber == "1234567")
        #expect(card.address?.line == "12 MAIN ST, VICTORIA BC  V8W 1P6, VICTORIA, BC V8W 1P6, CAN")
        #expect((card.country, card.jurisdiction) == ("CAN", "BC"))
        #expect(card.sex == .male)
        #expect(card.issuedOn == nil)
        let assessment = try assessed(Self.victoria)
        #expect(assessment.verdict == .accepted)
        #expect(assessment.failed.isEmpty)
        // It is the document that the same issuer's barcode names.
        let barcode = try CardSpecimen.of("BC") { $0.number = "1234567" }.read().identityCard
        #expect(CardFingerprint(card).document == CardFingerprint(barcode).document)
        #expect(CardFacts(card) != nil)
    }

    @Test("of another issuer has dollar signs in the name, a long number behind the dates, and a city without a mark")
    func others() throws {
        let card = try read(
            "%TXSAN ANTONIO NSAMPLE$MICHAEL$JOHN^12 MAIN ST^?;636015123456789012=3212198606163456?"
        ).identityCard
        #expect(card.name == PersonName(family: "SAMPLE", given: "MICHAEL", middle: "JOHN"))
        #expect(card.address?.city == "SAN ANTONIO N")
        #expect(card.documentNumber == "1234567890123456")
        #expect((card.country, card.jurisdiction) == ("USA", "TX"))
    }

    @Test(
        "has an expiry of year and month, or a word for never, the month of birth and the birthday",
        arguments: [
            ("3212", "2032-12-31"), ("2802", "2028-02-29"), ("2702", "2027-02-28"), ("3277", "9999-12-31"),
            ("3288", "2032-06-30"), ("3299", "2032-06-16"), ("9912", "1999-12-31"), ("9999", "9999-12-31"),
        ])
    func expiry(written: String, day: String) throws {
        let text = Self.victoria.replacing("=3212", with: "=\(written)")
        #expect(try read(text).identityCard.expiresOn?.text == day)
    }

    @Test("may have no day of birth, or no month; the latest possible day counts, in review")
    func partialBirthday() throws {
        for (written, latest) in [("19860600", "1986-06-30"), ("19860000", "1986-12-31")] {
            let text = Self.victoria.replacing("19860616", with: written)
            #expect(try read(text).identityCard.dateOfBirth?.text == latest)
            #expect(try assessed(text).failed == [.birthday])
            #expect(try assessed(text).verdict == .inReview)
        }
        for written in ["00000000", "19861300"] {
            #expect(try assessed(Self.victoria.replacing("19860616", with: written)).verdict == .rejected)
        }
    }

    @Test("has a third track whose first mark readers show in three ways", arguments: ["%", "#", "+"])
    func thirdTrack(mark: String) throws {
        let card = try read(Self.victoria.replacing("_%", with: "_" + mark)).identityCard
        #expect(card.address?.postalCode == "V8W 1P6")
        #expect(card.sex == .male)
    }

    @Test("waits for a reviewer with a sex that no stripe has, or a number shorter than any of the issuer's")
    func contradictions() throws {
        for (old, new) in [("   M183", "   Z183"), ("   M183", "   7183"), ("1234567=", "12=")] {
            let assessment = try assessed(Self.victoria.replacing(old, with: new))
            #expect(assessment.failed == [.contradiction], "\(new)")
            #expect(assessment.verdict == .inReview)
        }
        // Unstated, of another layout, or a letter written as digits.
        for (old, new) in [
            ("   M183", "    183"), ("   M183", "   X183"), ("   M183", "   ZYX "), ("1234567=", "12345678901234567="),
        ] {
            #expect(try assessed(Self.victoria.replacing(old, with: new)).failed.isEmpty, "\(new)")
        }
    }

    @Test("that contradicts itself, or lacks what a card cannot count without, is rejected")
    func rejected() throws {
        for (old, new, check) in [
            ("=3212", "=2601", CardCheck.Name.unexpired), ("=3212", "=3213", .unexpired),
            ("=3212", "=3200", .unexpired),
            ("636028", "699999", .issuer), ("636028", "63X028", .issuer), ("19860616", "20280606", .dateOrder),
            ("19860616", "19860231", .minimumAge), ("19860616", "20151106", .minimumAge),
            ("1234567", "", .mandatoryElements),
            ("1234567", "0000000", .documentNumber), ("SAMPLE,$MICHAEL JOHN", "", .mandatoryElements),
        ] {
            let assessment = try assessed(Self.victoria.replacing(old, with: new))
            #expect(assessment.failed.contains(check), "\(new)")
            #expect(assessment.verdict == .rejected, "\(new)")
        }
    }

    @Test("is refused as malformed where one of the first two tracks is not whole")
    func malformed() {
        for text in [
            "%BC", "%BCVICTORIA^SAMPLE,$MICHAEL^12 MAIN ST^?", "%BCVICTORIA^SAMPLE?;636028123?",
            "%BCVICTORIA^SAMPLE?;6360281234567=3212", String(repeating: "%BC", count: 4000),
        ] {
            let refusal = #expect(throws: Refusal.self) { try read(text) }
            #expect(refusal?.code == .malformedRequest)
        }
        #expect(throws: Never.self) { try read("\u{FEFF}\r\n" + Self.victoria + "\r\n") }
    }

    @Test("says nothing of its holder when it is described or dumped, nor does a check")
    func descriptions() throws {
        let card = try read(Self.victoria)
        var dumped = "\(card)"
        dump(card, to: &dumped)
        let sentences = try assessed(Self.victoria.replacing("=3212", with: "=2601")).checks.map(\.detail).joined()
        for datum in ["SAMPLE", "MICHAEL", "1986", "1234567", "MAIN", "V8W"] {
            #expect(!(dumped + sentences).contains(datum), "\(datum)")
        }
    }
}
