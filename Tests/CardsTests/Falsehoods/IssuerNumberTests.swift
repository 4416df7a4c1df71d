import Domain
import Fixtures
import Testing

@testable import Cards

@Suite("A document number that its issuer derives")
struct IssuerNumberTests {
    /// Numbers of an invented Rosalind Finchley, born on 17 April 1985. What is derived from nothing is 1 to 9.
    private static let numbers = [
        ("FL", "F524777851370"), ("FL", "F524777856370"), ("IL", "F52477785110"), ("IL", "F52477785710"),
        ("WI", "F5247778513701"), ("MD", "F524123456298"), ("MI", "F524123456258"), ("NJ", "F12345678904851"),
        ("NJ", "F12345678954851"), ("MT", "0412319854117"), ("MT", "0412319851741"), ("ND", "FIN851234"),
        ("NH", "04FYR85171"),
        ("CT", "041234567"), ("NL", "F850417123"), ("NS", "FINCH170485123"), ("ON", "F12345678850417"),
        ("ON", "F12345678855417"), ("QC", "F123417048512"),
    ]

    private func assessed(
        _ code: String, _ number: String, family: String = "FINCHLEY", birth: (Int, Int, Int) = (1985, 4, 17),
        sex: String = "9"
    ) throws -> CardAssessment {
        try CardSpecimen.of(code) { specimen in
            (specimen.family, specimen.given, specimen.middle, specimen.suffix) = (family, "ROSALIND", "", "")
            (specimen.number, specimen.birth) = (number, CardSpecimen.day(birth.0, birth.1, birth.2))
            specimen.replaced["DBC"] = sex
        }.assessed(displayName: nil)
    }

    @Test(
        "follows from name and birthday; that of another birthday is a contradiction, of another name only reported",
        arguments: numbers)
    func derived(code: String, number: String) throws {
        #expect(try assessed(code, number).failed.isEmpty)
        let older = try assessed(code, number, birth: (1984, 9, 25))
        #expect(older.failed == [.numberRule, .contradiction])
        #expect(older.verdict == .inReview)
        let married = try assessed(code, number, family: "QUIRKE")
        #expect(married.failed == (["MT", "NH", "CT"].contains(code) ? [] : [.numberRule]))
        #expect(married.verdict == .accepted)
    }

    @Test(
        "of a woman is no man's, if the issuer's numbers say so",
        arguments: [
            ("FL", "F524777851370", "1"), ("FL", "F524777856370", "2"), ("IL", "F52477785110", "1"),
            ("IL", "F52477785710", "2"), ("WI", "F5247778563701", "2"), ("NJ", "F12345678904851", "1"),
            ("NJ", "F12345678954851", "2"), ("ON", "F12345678850417", "1"), ("ON", "F12345678855417", "2"),
        ])
    func sexes(code: String, number: String, sex: String) throws {
        #expect(try assessed(code, number, sex: sex).failed.isEmpty)
        let other = try assessed(code, number, sex: sex == "1" ? "2" : "1")
        #expect(other.failed == [.contradiction])
        #expect(other.verdict == .inReview)
        #expect(try assessed(code, number, sex: "").failed == [.conformance])
    }

    @Test("of an invented card is formed as the issuer would")
    func fitting() throws {
        for jurisdiction in Jurisdiction.all {
            for (month, day) in [(1, 1), (2, 29), (6, 30), (12, 31)] {
                let specimen = try CardSpecimen.of(jurisdiction.code) {
                    ($0.family, $0.birth) = ("LÉ", CardSpecimen.day(1988, month, day))
                }
                #expect(try specimen.assessed(displayName: nil).failed.subtracting([.conformance]).isEmpty)
            }
        }
    }

    @Test("of another form, or of an issuer whose rule nobody published, is not compared")
    func notCompared() throws {
        for (code, number) in [
            ("VA", "T64225789"), ("ND", "123456789"), ("MD", "AB12345678901"), ("MI", "F1234567890"),
            ("MT", "123456789"), ("NH", "ABC12345678"), ("CT", "571234567"), ("NJ", "F12345678933851"),
        ] {
            #expect(try assessed(code, number).result(.numberRule) == .notApplicable, "\(code)")
        }
        let partial = try CardSpecimen.of("FL") { $0.replaced["DBB"] = "00001986" }.assessed()
        #expect(partial.result(.numberRule) == .notApplicable)
    }

    @Test("has more letters than any of the issuer's only if it has two more")
    func letters() throws {
        for (code, number, isImpossible) in [
            ("VA", "LICENSE", true), ("VA", "ABC123456", true), ("VA", "AB1234567", false), ("TX", "A1234567", false),
            ("TX", "AB123456", true), ("NY", "ABCDEFGH", false), ("WA", "WDLABCD1EFGH", false),
        ] {
            #expect(try assessed(code, number).failed.contains(.contradiction) == isImpossible, "\(code) \(number)")
        }
    }

    @Test("has a length that the issuer never gave out only if it is far from all of its forms")
    func lengths() throws {
        for (code, number, isImpossible) in [
            ("VA", "1", true), ("VA", "123", true), ("VA", "1234567", false), ("NJ", "S12345", true),
            ("AL", "1", false),
            ("PE", "1234567", false), ("PE", "12345678901", false), ("PE", "123456789012", true), ("GU", "1", false),
            ("SC", "12", true), ("SC", "123", false), ("VA", "T1234567890123456", false),
            ("VA", "T12345678901234567", true),
        ] {
            #expect(try assessed(code, number).failed.contains(.contradiction) == isImpossible, "\(code) \(number)")
        }
    }
}
