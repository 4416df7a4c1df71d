import Cards
import Domain
import Fixtures
import Testing

@Suite("A document number that its issuer derives")
struct IssuerNumberTests {
    /// Numbers of an invented Rosalind Finchley, born on 17 April 1985. What is derived from nothing is 1 to 9.
    private static let numbers = [
        ("FL", "F524777851370"), ("FL", "F524777856370"), ("IL", "F52477785110"), ("IL", "F52477785710"),
        ("WI", "F5247778513701"), ("MD", "F524123456789"), ("MI", "F524123456789"), ("NJ", "F12345678904851"),
        ("NJ", "F12345678954851"), ("MT", "0412319854117"), ("ND", "FIN851234"), ("NH", "04FYR85171"),
        ("CT", "041234567"), ("NL", "F850417123"), ("NS", "FINCH170485123"), ("ON", "F12345678850417"),
        ("ON", "F12345678855417"), ("QC", "F123417048512"),
    ]

    private func assessed(
        _ code: String, _ number: String, family: String = "FINCHLEY", birth: (Int, Int, Int) = (1985, 4, 17)
    ) throws -> CardAssessment {
        try CardSpecimen.of(code) { specimen in
            (specimen.family, specimen.given, specimen.middle, specimen.suffix) = (family, "ROSALIND", "", "")
            (specimen.number, specimen.birth) = (number, CardSpecimen.day(birth.0, birth.1, birth.2))
        }.assessed(displayName: nil)
    }

    @Test("follows from name and birthday, and from no other; that is only reported", arguments: numbers)
    func derived(code: String, number: String) throws {
        #expect(try assessed(code, number).result(.numberRule) == .passed)
        let other = try assessed(code, number, family: "QUIRKE", birth: (1986, 9, 25))
        #expect(other.result(.numberRule) == .failed)
        #expect(other.verdict == .accepted)
        if !["MD", "MI"].contains(code) {
            #expect(try assessed(code, number, birth: (1986, 9, 25)).result(.numberRule) == .failed)
        }
    }

    @Test("of another form, or of an issuer whose rule nobody published, is not compared")
    func notCompared() throws {
        for (code, number) in [
            ("VA", "T64235789"), ("ND", "123456789"), ("MD", "AB12345678901"), ("MI", "F1234567890"),
            ("MT", "123456789"),
            ("NH", "ABC12345678"),
        ] {
            #expect(try assessed(code, number).result(.numberRule) == .notApplicable, "\(code)")
        }
        let partial = try CardSpecimen.of("FL") { $0.replaced["DBB"] = "00001986" }.assessed()
        #expect(partial.result(.numberRule) == .notApplicable)
    }

    @Test("has a length that the issuer never gave out only if it is far from all of its forms")
    func lengths() throws {
        for (code, number, isImpossible) in [
            ("VA", "1", true), ("VA", "123", true), ("VA", "1234567", false), ("NJ", "S12345", true),
            ("AL", "1", false),
            ("PE", "1234567", false), ("PE", "1234567890123456789", true), ("GU", "1", false),
        ] {
            #expect(try assessed(code, number).failed.contains(.contradiction) == isImpossible, "\(code) \(number)")
        }
    }
}
