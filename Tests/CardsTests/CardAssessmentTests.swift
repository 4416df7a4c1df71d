import Domain
import Fixtures
import Foundation
import Testing

@testable import Cards

@Suite("The checks of a card")
struct CardAssessmentTests {
    @Test("all pass for the standard's example, and name every check once")
    func accepted() throws {
        let assessment = try CardSpecimen.of().assessed()
        #expect(assessment.verdict == .accepted)
        #expect(assessment.checks.map(\.name) == CardCheck.Name.ofTheCard)
        #expect(assessment.failed.isEmpty)
        #expect(assessment.result(.checkDigits) == .notApplicable)
        #expect(assessment.checks.allSatisfy { $0.detail.hasSuffix(".") })
    }

    @Test("reject an expired card once its last day is over wherever its holder may be, twelve hours behind UTC")
    func lastDay() throws {
        let card = ScannedCard.aamva(try CardSpecimen.of { $0.expiry = today }.read())
        func verdict(hoursBehindMidnight hours: Double) -> CardAssessment.Verdict {
            let moment = today.next.start.addingTimeInterval(hours * 3600)
            return CardAssessment(card, at: moment, policy: CardPolicy(), displayName: nil).verdict
        }
        // In Honolulu it is then two in the afternoon, and a minute before midnight on Baker Island.
        for hours in [-1, 0, 11.98] { #expect(verdict(hoursBehindMidnight: hours) == .accepted) }
        #expect(verdict(hoursBehindMidnight: 12) == .rejected)
    }

    @Test("reject an expired card from the day after its last")
    func expired() throws {
        #expect(try CardSpecimen.of { $0.expiry = today }.assessed().result(.unexpired) == .passed)
        let assessment = try CardSpecimen.of { $0.expiry = CardSpecimen.day(2026, 11, 20) }.assessed()
        #expect(assessment.failed == [.unexpired])
        #expect(assessment.verdict == .rejected)
    }

    @Test("reject days that do not follow each other")
    func dateOrder() throws {
        let changes: [(inout CardSpecimen) -> Void] = [
            { $0.issue = $0.birth }, { $0.issue = CardSpecimen.day(2033, 1, 1) },
            { $0.issue = CardSpecimen.day(2027, 1, 1) },
            { $0.expiry = CardSpecimen.day(1980, 1, 1) }, { $0.birth = CardSpecimen.day(2025, 1, 1) },
        ]
        for change in changes {
            let assessment = try CardSpecimen.of(change: change).assessed()
            #expect(assessment.failed.contains(.dateOrder))
            #expect(assessment.verdict == .rejected)
        }
        #expect(try CardSpecimen.of { $0.issue = CardSpecimen.day(2026, 11, 22) }.assessed().failed.isEmpty)
    }

    @Test("reject who is younger than the policy says, to the day")
    func age() throws {
        var policy = CardPolicy()
        let eighteen = try CardSpecimen.of { $0.birth = CardSpecimen.day(2008, 11, 21) }
        let tooYoung = try CardSpecimen.of { $0.birth = CardSpecimen.day(2008, 11, 22) }
        #expect(try eighteen.assessed().verdict == .accepted)
        #expect(try tooYoung.assessed().failed == [.minimumAge])
        policy.minimumAge = 21
        #expect(try eighteen.assessed(policy: policy).verdict == .rejected)
        policy.minimumAge = 0
        #expect(try tooYoung.assessed(policy: policy).verdict == .accepted)
    }

    @Test("reject an issuer number that is nobody's or another country's; where the holder lives is only told")
    func issuer() throws {
        let changes: [(inout CardSpecimen) -> Void] = [
            { $0.deviations = [.wrongIssuerNumber] }, { $0.replaced["DCG"] = "CAN" }, { $0.replaced["DCG"] = "FRA" },
            { $0.replaced["DCG"] = "CA" },
        ]
        for change in changes {
            let assessment = try CardSpecimen.of(change: change).assessed()
            #expect(assessment.failed.contains(.issuer))
            #expect(assessment.verdict == .rejected)
        }
        for other in ["US", "United States", "VA", "840", ""] {
            #expect(try CardSpecimen.of { $0.replaced["DCG"] = other }.assessed().result(.issuer) == .passed)
        }
        #expect(try CardSpecimen.of("CA") { $0.replaced["DCG"] = "CA" }.assessed().result(.issuer) == .passed)
        for (state, postalCode) in [("CA", "941030000"), ("XX", "SW1A 1AA")] {
            let moved = try CardSpecimen.of {
                $0.replaced["DAJ"] = state
                $0.postalCode = postalCode
            }.assessed()
            #expect(moved.failed.contains(.addressJurisdiction))
            #expect(moved.verdict == .accepted)
        }
        for (state, postalCode) in [("AA", "340020000"), ("AE", "090120000"), ("AP", "963490000")] {
            let soldier = try CardSpecimen.of {
                $0.replaced["DAJ"] = state
                $0.postalCode = postalCode
            }.assessed()
            #expect(soldier.failed.isEmpty)
        }
    }

    @Test("reject a card without number, birthday, expiry or any name", arguments: 1...11)
    func required(version: Int) throws {
        for element in ["DAQ", "DBA", "DBB"] {
            let omitted = try CardSpecimen.of(version: version) { $0.omitted = [element] }
            #expect(try omitted.assessed().failed.contains(.mandatoryElements), "\(element)")
            #expect(try omitted.assessed().verdict == .rejected)
            let empty = try CardSpecimen.of(version: version) { $0.replaced[element] = "" }
            #expect(try empty.assessed().failed.contains(.mandatoryElements), "\(element)")
        }
        for nothing in ["", "NONE", "UNAVL", "."] {
            let nameless = try CardSpecimen.of(version: version) { specimen in
                for element in ["DAA", "DCS", "DAC", "DCT", "DAD", "DCU"] { specimen.replaced[element] = nothing }
            }
            #expect(try nameless.assessed().failed.contains(.mandatoryElements), "\(nothing)")
        }
    }

    @Test("only report what else a version makes mandatory, missing or empty", arguments: 1...11)
    func mandatory(version: Int) throws {
        let names = version == 1 ? [] : version < 4 ? ["DCT"] : ["DAC"]
        let later = version == 1 ? [] : ["DCF", "DCG"]
        for element in names + later + ["DBD", "DBC", "DAG", "DAI", "DAJ", "DAK"] {
            let omitted = try CardSpecimen.of(version: version) { $0.omitted = [element] }.assessed()
            let empty = try CardSpecimen.of(version: version) { $0.replaced[element] = "" }.assessed()
            for assessment in [omitted, empty] {
                #expect(assessment.result(.conformance) == .failed, "\(element)")
                #expect(assessment.verdict == .accepted, "\(element)")
            }
        }
        let description = try CardSpecimen.of(version: version) {
            $0.omitted = ["DAY", "DAU", "DCA", "DCB", "DCD", "DAR"]
        }
        #expect(try description.assessed().failed == [.conformance])
    }

    @Test(
        "reject what is no document number",
        arguments: [
            "NONE", "UNAVL", "000000000", "111111111", "SPECIMEN", "*****", "T6423\u{E9}789", "T64225789<script>",
        ])
    func documentNumber(number: String) throws {
        #expect(try CardSpecimen.of { $0.number = number }.assessed().failed.contains(.documentNumber))
    }

    @Test("only report a number of another form, a post office box and departures from the standard")
    func reported() throws {
        let number = try CardSpecimen.of { $0.number = "AB12345" }.assessed()
        #expect(number.failed == [.numberFormat])
        let box = try CardSpecimen.of { $0.street = "P.O. Box 123" }.assessed()
        #expect(box.failed == [.poBox])
        #expect(try CardSpecimen.of { $0.street = "12 POBOXTON ROAD" }.assessed().failed.isEmpty)
        let departure = try CardSpecimen.of { $0.deviations = [.wrongOffsets] }.assessed()
        #expect(departure.failed == [.conformance])
        for assessment in [number, box, departure] { #expect(assessment.verdict == .accepted) }
    }

    @Test("send a postal code of elsewhere and a stranger's name to review, or what the policy names instead")
    func review() throws {
        let postal = try CardSpecimen.of { $0.postalCode = "902100000" }.assessed()
        #expect(postal.failed == [.postalCode])
        #expect(postal.verdict == .inReview)
        let name = try CardSpecimen.of().assessed(displayName: "Michael Mustermann")
        #expect(name.failed == [.name])
        #expect(name.verdict == .accepted)
        let stranger = try CardSpecimen.of().assessed(displayName: "Erika Mustermann")
        #expect(stranger.failed == [.name, .otherName])
        #expect(stranger.verdict == .inReview)
        var policy = CardPolicy()
        policy.reviewedChecks = ["name"]
        #expect(try CardSpecimen.of().assessed(policy: policy, displayName: "Erika Mustermann").verdict == .inReview)
        policy.reviewedChecks = ["po_box"]
        #expect(try CardSpecimen.of { $0.postalCode = "90210" }.assessed(policy: policy).verdict == .accepted)
        #expect(try CardSpecimen.of { $0.street = "PO BOX 1" }.assessed(policy: policy).verdict == .inReview)
    }

    @Test("reject rather than review where both would follow")
    func hardBeforeSoft() throws {
        let assessment = try CardSpecimen.of { $0.expiry = CardSpecimen.day(2025, 1, 1) }.assessed(
            displayName: "Some Other")
        #expect(assessment.failed == [.unexpired, .name, .otherName])
        #expect(assessment.verdict == .rejected)
    }

    @Test("hold no datum of the card in their sentences")
    func sentences() throws {
        let specimen = try CardSpecimen.of { card in
            card.expiry = CardSpecimen.day(2025, 1, 1)
            card.postalCode = "902100000"
            card.deviations = [.trailingCommas, .barSeparator, .missingLeadingZeros]
            card.omitted = ["DAY", "DCF"]
        }
        let sentences = try specimen.assessed(displayName: "Erika Muster").checks.map(\.detail).joined()
        for datum in ["SAMPLE", "MICHAEL", "1986", "2025", "T6423", "90210", "RICHMOND", "Erika", "Muster"] {
            #expect(!sentences.contains(datum))
        }
        #expect(sentences.contains("DCF"))
    }

    @Test("know every jurisdiction once, and its number, country and postal codes agree")
    func jurisdictions() {
        #expect(Jurisdiction.all.count == 71)
        #expect(Set(Jurisdiction.all.map(\.code)).count == 71)
        #expect(Set(Jurisdiction.all.map(\.issuerNumber)).count == 71)
        let known = [
            "VA": 636000, "NY": 636001, "CA": 636014, "TX": 636015, "FL": 636010, "ON": 636012, "BC": 636028,
            "PR": 604431, "QC": 604428,
        ]
        for (code, number) in known { #expect(Jurisdiction.of(issuerNumber: number)?.code == code) }
        for (code, postal) in [("CA", "94103"), ("NY", "10001"), ("TX", "78701"), ("DC", "20001"), ("AK", "99501")] {
            let holders = Jurisdiction.all.filter { $0.postalArea.contains(postal) == true }
            #expect(holders.map(\.code) == [code])
        }
        #expect(Jurisdiction.of(code: "ON")?.postalArea.contains("K1A 0B1") == true)
        #expect(Jurisdiction.of(code: "QC")?.postalArea.contains("K1A 0B1") == false)
        #expect(Jurisdiction.of(code: "CA")?.postalArea.contains("9410") == nil)
    }

    @Test(
        "tell a number's form",
        arguments: [
            ("CA", "D1234567", true), ("CA", "12345678", false), ("TX", "12345678", true),
            ("FL", "S123456789012", true),
            ("NJ", "S12345678901234", true), ("NJ", "S1234567890123", false), ("WA", "WDL123ABC456", true),
            ("ON", "S12345678901234", true), ("WV", "AB123456", true), ("KS", "K1A2B", true), ("PE", "123456", true),
        ])
    func numberForms(code: String, number: String, isKnown: Bool) {
        #expect(Jurisdiction.of(code: code)?.numberFormat?.admits(number) == isKnown)
    }
}
