import Cards
import Domain
import Encoding
import Fixtures
import Testing

@Suite("Names as people have them")
struct SpokenNameTests {
    private func assessed(_ name: PersonName, _ displayName: String) throws -> CardAssessment {
        try CardSpecimen.of { specimen in
            (specimen.family, specimen.given) = (name.family ?? "", name.given ?? "")
            (specimen.middle, specimen.suffix) = (name.middle ?? "", name.suffix ?? "")
            specimen.replaced["DDE"] = name.familyTruncation.rawValue
        }.assessed(displayName: displayName)
    }

    @Test(
        "fit an account whose name is transliterated, abbreviated, divided or lacks what is unknown",
        arguments: [
            ("MUELLER", "JURGEN", "", "Jürgen Müller"), ("MULLER", "JUERGEN", "", "Jürgen Müller"),
            ("DJOKIC", "ANA", "", "Ana Đokić"), ("MUNXXOZ", "INES", "", "Inés Muñoz"),
            ("AASEN", "SOEREN", "", "Søren Åsen"),
            ("LI WU", "MEI", "", "Mei Li"), ("LI WU", "MEI", "", "Mei Wu"), ("KIM", "JI", "WOO", "Jiwoo Kim"),
            ("KIM", "JIWOO", "", "Ji-Woo Kim"), ("DHALIWAL", "FNU", "", "Arjan Dhaliwal"),
            ("LNU", "ARJAN", "", "Arjan Dhaliwal"), ("DHALIWAL", "UNKNOWN", "", "Arjan Dhaliwal"),
            ("KEALOHA", "KAI", "", "Kai Ke\u{2BB}aloha"), ("KE\u{2BB}ALOHA", "KAI", "", "Kai Ke’aloha"),
            ("WOLFESCHLEGELSTEINHAU", "ADA", "", "Ada Wolfeschlegelsteinhausen"),
            ("SAMPLE", "MICHAEL", "", "Mike Sample"),
            ("SAMPLE", "LIZ", "", "Elizabeth Sample"), ("VOLKOV", "ALEKSEY", "", "Alexei Volkoff"),
            ("RAHMANI", "MOHAMMED", "", "Muhammad Rahmani"), ("HSU", "MEI", "", "Mei Xu"),
        ])
    func spoken(family: String, given: String, middle: String, displayName: String) throws {
        let assessment = try assessed(PersonName(family: family, given: given, middle: middle), displayName)
        #expect(assessment.result(.name) == .passed)
        #expect(assessment.result(.otherName) == .passed)
    }

    @Test(
        "of a stranger share no word with the account's, and the card waits for a reviewer",
        arguments: [
            ("OTHERPERSON", "BRUNO", "Anna Sampler"), ("DE LA CRUZ", "MARIA", "Pedro de la Torre"),
            ("LI", "MEI", "Bo Wu"), ("SMITH JR", "JOHN", "Adam Baker Jr"), ("FNU", "BRUNO", "Fnu Dhaliwal"),
        ])
    func stranger(family: String, given: String, displayName: String) throws {
        let assessment = try assessed(PersonName(family: family, given: given), displayName)
        #expect(assessment.failed == [.name, .otherName])
        #expect(assessment.verdict == .inReview)
        var policy = CardPolicy()
        policy.reviewedChecks = []
        let specimen = try CardSpecimen.of { ($0.family, $0.given, $0.middle) = (family, given, "") }
        #expect(try specimen.assessed(policy: policy, displayName: displayName).verdict == .accepted)
    }

    @Test(
        "that cannot be compared have the reason in both checks, and none is called no name",
        arguments: [
            (nil, "sent no display name"), ("", "sent no display name"), (" \u{3000}\u{3164}", "sent no display name"),
            ("محمد بن سلمان", "letters other than A to Z"), ("Иван Иванов", "letters other than A to Z"),
            ("陳健仁", "letters other than A to Z"), ("Joan", "a single word"), ("J. R. Ewing", "only initials"),
            ("sunny99", "digits or signs"), ("\u{1F600}", "digits or signs"), ("a@b.example c", "digits or signs"),
            ("Ana Bea Cia Dea Eva Fay Gia Hea Ida", "more words"),
        ] as [(String?, String)])
    func incomparable(displayName: String?, reason: String) throws {
        let specimen = try CardSpecimen.of { ($0.family, $0.given, $0.middle) = ("OTHERPERSON", "BRUNO", "") }
        let checks = try specimen.assessed(displayName: displayName).checks
        for check in checks where [.name, .otherName].contains(check.name) {
            #expect(check.result == .notApplicable && check.detail.contains(reason), "\(check.detail)")
        }
    }

    @Test("that share one word are only reported, and a nickname alone is not compared")
    func shared() throws {
        let married = try assessed(PersonName(family: "SAMPLER", given: "ANNA"), "Anna Quirke")
        #expect(married.failed == [.name])
        #expect(married.verdict == .accepted)
        for displayName in ["Anna", "sunny99", "Анна Образцова"] {
            let other = try assessed(PersonName(family: "OTHERPERSON", given: "BRUNO"), displayName)
            #expect(other.result(.otherName) == .notApplicable)
        }
    }

    @Test(
        "of two cards are one person's under another transliteration or suffix, but not by a nickname",
        arguments: [
            ("JURGEN MUELLER", "JÜRGEN MÜLLER", true), ("ANA DJOKIC", "ANA ĐOKIĆ", true),
            ("INES MUNXXOZ", "INÉS MUÑOZ", true), ("JI WOO KIM", "JIWOO KIM", true),
            ("FNU ARJAN DHALIWAL", "ARJAN DHALIWAL", true), ("KAI KE\u{2BB}ALOHA", "KAI KEALOHA", true),
            ("ADA WOLFESCHLEGELSTEIN", "ADA WOLFESCHLEGELSTEINHAUSEN", true),
            ("ANNA SAMPLER PHD", "ANNA SAMPLER", true),
            ("ANNA SAMPLER III", "ANNA SAMPLER", true), ("MIKE SAMPLE", "MICHAEL SAMPLE", false),
            ("ALEKSEY VOLKOV", "ALEXEI VOLKOV", false), ("ANNA SAMPLER", "BRUNO SAMPLER", false),
        ])
    func cards(one: String, other: String, isSame: Bool) throws {
        func facts(_ name: String) throws -> CardFacts {
            let members = [
                ("source", "aamva"), ("kind", "licence"), ("family_name", name), ("date_of_birth", "1986-06-16"),
                ("document_number", "T1"), ("last_four", "1"), ("expires_on", "2099-12-10"),
            ]
            let json = JSONValue.object(members.map { JSONMember(name: $0, value: .string($1)) })
            return try #require(CardFacts(jsonText: json.jsonText))
        }
        #expect(SamePerson.agree(try facts(one), try facts(other)) == isSame)
        #expect(SamePerson.agree(try facts(other), try facts(one)) == isSame)
    }

    @Test("cost little, however many words a card or an account has")
    func bounded() throws {
        let many = String(repeating: "MI ", count: 2000)
        let name = PersonName(family: "SAMPLE", given: "MI", middle: String(many.prefix(3000)))
        let displayName = String(repeating: "Mi ", count: 80) + "Ö"
        for _ in 0..<20 { _ = try assessed(name, displayName) }
    }
}
