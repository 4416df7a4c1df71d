import Cards
import Domain
import Fixtures
import Testing

@Suite("Names on cards")
struct NameTests {
    private func fits(_ card: PersonName, _ displayName: String) throws -> Bool {
        try result(card, displayName) == .passed
    }

    private func result(_ card: PersonName, _ displayName: String) throws -> CardCheck.Result? {
        try specimen(of: card).assessed(displayName: displayName).result(.name)
    }

    private func specimen(of card: PersonName) throws -> CardSpecimen {
        try CardSpecimen.of { specimen in
            specimen.family = card.family ?? ""
            specimen.given = card.given ?? ""
            specimen.middle = card.middle ?? ""
            specimen.replaced["DDE"] = card.familyTruncation.rawValue
            specimen.replaced["DDF"] = card.givenTruncation.rawValue
        }
    }

    @Test(
        "of the protocol's examples have its full names and initials, and fit its display names",
        arguments: [
            ("IVANOV", "IVAN", "IVANOVICH", "IVAN IVANOVICH IVANOV", "II", ["Ivan Ivanov", "Ivanov Ivan Ivanovich"]),
            ("EINARSSON", "JON", "", "JON EINARSSON", "JE", ["Jon Einarsson"]),
            ("WANG", "XIAOMING", "", "XIAOMING WANG", "XW", ["Wang Xiaoming", "Xiaoming Wang"]),
            ("SUKARNO", "NONE", "", "SUKARNO", "S", ["Sukarno", "Sukarno Putra"]),
            ("AHMAD BIN ISMAIL", "NONE", "", "AHMAD BIN ISMAIL", "AI", ["Ahmad bin Ismail", "Ahmad Ismail"]),
        ])
    func examples(
        family: String, given: String, middle: String, full: String, initials: String, displayNames: [String]
    ) throws {
        let name = PersonName(family: family, given: given, middle: middle)
        var specimen = try specimen(of: name)
        specimen.suffix = ""
        let facts = try #require(CardFacts(try specimen.read().identityCard))
        #expect(facts.fullName == full && AuthenticatedUser.initials(of: full) == initials)
        for displayName in displayNames { #expect(try fits(name, displayName), "\(displayName)") }
    }

    @Test("have initials of letters only")
    func letters() {
        for (name, initials) in [
            ("J\u{202E} S\u{2066}", "JS"), ("\u{2066}JANE \u{3164}SAMPLE", "JS"), ("JANE <SAMPLE", "JS"),
            ("JANE " + "S" + String(repeating: "\u{323}", count: 30), "J\u{1E62}"), ("JANE ", "J"), ("< -", nil),
            ("JANE \u{301}", "J"), ("E\u{301}VA O'NEIL JR", "\u{C9}O"), ("\u{3164}", nil), ("J\u{A0}S", "JS"),
            ("'t HOOFT", "tH"), ("\u{645}\u{631}\u{64A}\u{645}", "\u{645}"),
            ("\u{5C71}\u{7530} \u{592A}", "\u{5C71}\u{592A}"),
        ] as [(String, String?)] {
            let found = AuthenticatedUser.initials(of: name)
            #expect(found.map { Array($0.utf8) } == initials.map { Array($0.utf8) }, "\(name)")
        }
    }

    @Test("do not fit by a patronymic in place of the family name, which leaves them a name in common")
    func patronymic() throws {
        let card = try specimen(of: PersonName(family: "IVANOV", given: "IVAN", middle: "IVANOVICH"))
        let assessed = try card.assessed(displayName: "Ivan Ivanovich")
        #expect(assessed.result(.name) == .failed && assessed.result(.otherName) == .passed)
    }

    @Test(
        "fit display names whatever case, marks, hyphens, order and further names they have",
        arguments: [
            ("SAMPLE", "MICHAEL", "JOHN", "michael sample"), ("SAMPLE", "MICHAEL", "JOHN", "Sample, Michael J."),
            ("SAMPLE", "MICHAEL", "JOHN", "John Sample"), ("SAMPLE", "MICHAEL", "", "Michael Q. Sample Jr."),
            ("O'NEIL", "SIOBHAN", "", "Siobhán O’Neil"), ("MCDONALD", "ANN", "", "Ann Mc Donald"),
            ("MC DONALD", "ANN", "", "Ann McDonald"), ("MUELLER", "JOERG", "", "Jörg Müller"),
            ("MULLER", "JORG", "", "Jörg Müller"), ("GARCIA-LOPEZ", "JOSE", "", "José García López"),
            ("DE LA CRUZ", "MARIA", "", "Maria de la Cruz"), ("STRASSE", "EVA", "", "Eva Straße"),
            ("GAGNÉ", "ANDRÉ", "", "Andre Gagne"), ("LUKASZEWICZ", "LUKASZ", "", "Łukasz Łukaszewicz"),
        ])
    func fitting(family: String, given: String, middle: String, displayName: String) throws {
        #expect(try fits(PersonName(family: family, given: given, middle: middle), displayName))
    }

    @Test(
        "do not fit other people's",
        arguments: [
            "Erika Mustermann", "Michael Samples", "Mo Sample", "Sampl Michael", "Mary-Ann O’Neil Jr.", "Jörg Müller",
        ])
    func others(displayName: String) throws {
        #expect(try result(PersonName(family: "SAMPLE", given: "MICHAEL", middle: "JOHN"), displayName) == .failed)
    }

    @Test(
        "are not compared with what has not the shape of a name, or is of another script",
        arguments: [
            "Michael", "Sample", "J Sample", "mike99", "sample@example.com", "Mo_Sample", "xX Mike Xx 77",
            "マイケル サンプル",
            "Михаил Иванов", "Michael 🙂 Other", "The (real) Mike",
        ])
    func nicknames(displayName: String) throws {
        let name = PersonName(family: "SAMPLE", given: "MICHAEL", middle: "JOHN")
        #expect(try result(name, displayName) == .notApplicable)
    }

    @Test(
        "of several words fit by any of them, but not by what only stands before names",
        arguments: [
            ("SAMPLE", "MARY ANN", "Mary Sample", true), ("SAMPLE", "MARY ANN", "Ann Sample", true),
            ("SAMPLE", "MARY ANN", "Maryann Sample", true), ("GARCIA LOPEZ", "JOSE", "José García", true),
            ("GARCIA-LOPEZ", "JOSE", "José López", true), ("BAKER SMITH", "ANN LEE", "Lee Baker", true),
            ("DE LA CRUZ", "MARIA", "Maria Cruz", true), ("DE LA CRUZ", "MARIA", "Maria de la Torre", false),
            ("VAN DYKE", "ANN", "Ann van Buren", false), ("GARCIA LOPEZ", "JOSE", "José Pérez", false),
            ("SAMPLE", "MARY ANN", "Mary Ann", false), ("GARCIA LOPEZ", "GARCIA", "Garcia Perez", false),
        ])
    func compounds(family: String, given: String, displayName: String, isFitting: Bool) throws {
        let name = PersonName(family: family, given: given, middle: "")
        #expect(try result(name, displayName) == (isFitting ? .passed : .failed))
    }

    @Test("fit by their beginning where the card cut them off, and only there")
    func truncated() throws {
        var name = PersonName(family: "WOLFESCHLEGELSTEINHAUSEN", given: "HUBERT")
        // Most cards do not say whether they cut a name, so a long one may be.
        #expect(try fits(name, "Hubert Wolfeschlegelsteinhausenbergerdorff"))
        name.familyTruncation = .complete
        #expect(try !fits(name, "Hubert Wolfeschlegelsteinhausenbergerdorff"))
        name.familyTruncation = .truncated
        #expect(try fits(name, "Hubert Wolfeschlegelsteinhausenbergerdorff"))
        #expect(try !fits(name, "Hubert Wolf"))
    }

    @Test("are not compared where the provider told none")
    func unknown() throws {
        for displayName in [nil, "", "  ", "🙂"] {
            #expect(try CardSpecimen.of().assessed(displayName: displayName).result(.name) == .notApplicable)
        }
    }

    @Test("of one part only fit by that part")
    func mononym() throws {
        #expect(try fits(PersonName(family: "SUHARTINI", given: "NONE"), "Suhartini"))
        #expect(try fits(PersonName(family: "NONE", given: "SUHARTINI"), "Suhartini"))
    }

    @Test("and numbers give one fingerprint in every way of writing them")
    func fingerprints() throws {
        let plain = CardFingerprint(try CardSpecimen.of().read().identityCard)
        let other = try CardSpecimen.of(version: 3) { specimen in
            specimen.number = "t64-225 789"
            specimen.family = "Sample"
            specimen.postalCode = "23269-1234"
            specimen.deviations = [.barSeparator, .missingLeadingZeros, .trailingCommas]
        }
        let written = CardFingerprint(try other.read().identityCard)
        #expect(plain == written)
        let sibling = CardFingerprint(try CardSpecimen.of { $0.given = "MARTHA" }.read().identityCard)
        #expect(sibling.document == plain.document)
        #expect(sibling.person != plain.person)
        let identification = CardFingerprint(try CardSpecimen.of { $0.subfile = "ID" }.read().identityCard)
        #expect(identification.document != plain.document)
        #expect(identification.person == plain.person)
        #expect(
            CardFingerprint(try CardSpecimen.of { $0.omitted = ["DAQ", "DBB"] }.read().identityCard).document == nil)
    }

    @Test("show no more than half of a short number")
    func lastFour() throws {
        for (number, shown) in [
            ("T64225789", "5789"), ("1234567", "4567"), ("12345", "345"), ("12", "2"), ("1-2-3-4", "34"),
        ] {
            #expect(try CardSpecimen.of { $0.number = number }.read().identityCard.lastFour == shown)
        }
    }
}
