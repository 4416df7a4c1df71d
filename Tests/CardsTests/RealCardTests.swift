import Encoding
import Fixtures
import Foundation
import Testing

@testable import Cards
@testable import Domain

/// Specimens are of invented people; what they do is what real cards were seen to do.
@Suite("A card as real ones are")
struct RealCardTests {
    @Test("whose state leaves elements empty counts", arguments: 2...11)
    func emptyLayouts(version: Int) throws {
        let assessment = try CardSpecimen.of(version: version) { specimen in
            for element in ["DCF", "DCG", "DBC", "DBD"] { specimen.replaced[element] = "" }
        }.assessed()
        #expect(assessment.verdict == .accepted)
        #expect(assessment.failed == [.conformance])
    }

    @Test("with its address under the other elements is read from there", arguments: 1...11)
    func residence(version: Int) throws {
        let text = try CardSpecimen.of(version: version) { specimen in
            for element in ["DAG", "DAI", "DAJ", "DAK"] { specimen.replaced[element] = "" }
        }.text.replacing("\nDBD", with: "\nDAL12 ELM ST\nDAMAPT 4\nDANNORFOLK\nDAOVA\nDAP235100000\nDBD")
        let card = try AAMVACard.read(text)
        let address = try #require(card.identityCard.address)
        #expect(address.line == "12 ELM ST, APT 4, NORFOLK, VA 23510, USA")
        #expect(card.missingElements.isEmpty)
        #expect(!card.conformance.kinds.contains(.missingElement))
        #expect(card.identityCard.provenance(of: .city).contains { $0.element == "DAN" })
    }

    @Test("whose scanner types like a keyboard has what that adds around elements taken off")
    func noise() throws {
        let clean = try CardSpecimen.of { $0.family = "GAGNÉ" }
        for (before, after) in [
            ("\u{85}", ""), ("\u{A0}", "\u{A0}"), ("\u{AD}", "\u{9F}"), ("\u{80}\u{A0}", "\u{AD}\u{AD}"),
            ("\u{A0} ", " \u{A0}"),
        ] {
            let text = clean.text.replacing("\n", with: after + "\n" + before)
            let latin = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            for bytes in [Array(text.utf8), latin] {
                let card = try AAMVACard.read(bytes)
                #expect(card.identityCard.name == (try clean.read()).identityCard.name)
                #expect(card.identityCard.documentNumber == "T64225789")
                #expect(card.identityCard.address?.city == "RICHMOND")
                #expect(card.missingElements.isEmpty)
                #expect(card.conformance.kinds.contains(.scannerNoise))
            }
        }
        let marked = clean.text.replacing("\nDCS", with: "\n\u{FEFF}\u{200B}DCS")
        #expect(try AAMVACard.read(marked).identityCard.name.family == "GAGNÉ")
    }

    @Test("with tabs or C1 controls in the place of line feeds is read", arguments: ["\t", "\u{85}", "\u{9D}\u{85}"])
    func separators(separator: String) throws {
        let text = try CardSpecimen.of().text.replacing("\n", with: separator)
        let latin = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        for bytes in [Array(text.utf8), latin] {
            let card = try AAMVACard.read(bytes)
            #expect(card.identityCard.name.full == "MICHAEL JOHN SAMPLE JR")
            #expect(card.identityCard.expiresOn?.text == "2032-12-10")
        }
    }

    @Test("whose line feeds are gone is not read, and the developer is told what to keep", arguments: 1...11)
    func lostLineFeeds(version: Int) throws {
        for replacement in [" ", "  ", ""] {
            let text = try CardSpecimen.of(version: version).text.replacing("\n", with: replacement)
            let refusal = #expect(throws: Refusal.self) { try AAMVACard.read(text) }
            #expect(refusal?.code == .malformedRequest)
            #expect(refusal?.detail.contains("line feeds") == true)
        }
        // An element that is missing is no lost separator, whatever words stand in a value.
        let trade = try CardSpecimen.of(version: version) {
            $0.omitted = ["DBA", "DBB"]
            $0.street = "12 MAIN ST DBA JOES DBB"
        }
        #expect(try trade.assessed().verdict == .rejected)
    }

    @Test(
        "may write a postal code with a tenth digit, blanks and what follows them, or in a form that is unknown",
        arguments: [
            ("2326900000", "23269"), ("2326912340", "23269-1234"), ("23269    0", "23269"),
            ("23269-1234", "23269-1234"),
            ("232691234", "23269-1234"), ("23269 ", "23269"), ("23269-0000", "23269"), ("2326", "2326"),
            ("000000000", "000000000"),
            ("AB", "AB"),
        ])
    func postalCodes(written: String, read: String) throws {
        let specimen = try CardSpecimen.of { $0.postalCode = written }
        #expect(try specimen.read().identityCard.address?.postalCode == read)
        let assessment = try specimen.assessed()
        let isKnown = read.count >= 5 && read != written || written.contains("-1234")
        #expect(assessment.failed == (isKnown ? [] : [.conformance]))
        #expect(assessment.result(.postalCode) == (isKnown ? .passed : .notApplicable))
        #expect(assessment.verdict == .accepted)
        let ontario = try CardSpecimen.of("ON") { $0.postalCode = "k1a-0b1 0" }.read()
        #expect(ontario.identityCard.address?.postalCode == "K1A 0B1")
    }

    @Test("has its names in parts, however many and wherever they stand")
    func names() throws {
        func name(_ version: Int, _ replaced: [(String, String)]) throws -> [String?] {
            var text = try CardSpecimen.of(version: version) { $0.suffix = "" }.text
            for (old, new) in replaced { text = text.replacing(old, with: new) }
            let name = try AAMVACard.read(text).identityCard.name
            return [name.given, name.middle, name.family, name.suffix]
        }
        #expect(try name(10, [("DADJOHN", "DADJOHN,PAUL, LEE")]) == ["MICHAEL", "JOHN PAUL LEE", "SAMPLE", nil])
        #expect(try name(10, [("DACMICHAEL", "DACMARY ANN")]) == ["MARY ANN", "JOHN", "SAMPLE", nil])
        #expect(try name(10, [("DACMICHAEL", "DACMARY,ANN")]) == ["MARY", "ANN JOHN", "SAMPLE", nil])
        #expect(
            try name(3, [("DCTMICHAEL,JOHN", "DCTMICHAEL\nDADJOHN,LEE")]) == ["MICHAEL", "JOHN LEE", "SAMPLE", nil])
        #expect(try name(3, [("DCTMICHAEL,JOHN", "DCTMICHAEL,JOHN\nDADJOHN")]) == ["MICHAEL", "JOHN", "SAMPLE", nil])
        #expect(try name(8, [("DACMICHAEL", "DCTMICHAEL")]) == ["MICHAEL", "JOHN", "SAMPLE", nil])
        for (written, parts) in [
            ("MICHAEL JOHN SAMPLE", ["MICHAEL", "JOHN", "SAMPLE", nil]),
            ("MICHAEL SAMPLE", ["MICHAEL", nil, "SAMPLE", nil]), ("SAMPLE", [nil, nil, "SAMPLE", nil]),
            ("MICHAEL JOHN LEE SAMPLE JR", ["MICHAEL", "JOHN LEE", "SAMPLE", "JR"]),
        ] {
            #expect(try name(1, [("DAASAMPLE,MICHAEL,JOHN,", "DAA" + written)]) == parts)
        }
    }

    @Test("may comply with REAL ID materially, and may never expire")
    func elements() throws {
        #expect(try CardSpecimen.of { $0.replaced["DDA"] = "M" }.read().identityCard.compliance == .material)
        for never in ["99999999", "NONE", "none", "12319999", "999999", "INDEF", "MIL", "indefinite"] {
            let card = try CardSpecimen.of { $0.replaced["DBA"] = never }
            #expect(try card.read().identityCard.expiresOn?.text == "9999-12-31")
            #expect(try card.assessed().verdict == .accepted)
        }
        for nothing in ["UNAVL", "00000000", "99", "999X9999"] {
            #expect(try CardSpecimen.of { $0.replaced["DBA"] = nothing }.assessed().verdict == .rejected)
        }
        #expect(try CardSpecimen.of { $0.replaced["DBB"] = "99999999" }.assessed().verdict == .rejected)
        #expect(try CardSpecimen.of { $0.replaced["DBD"] = "NONE" }.assessed().verdict == .accepted)
    }

    @Test("may state no day of birth, or no month; the latest possible day counts, in review")
    func partialBirthday() throws {
        for (written, latest) in [("06001986", "1986-06-30"), ("19860000", "1986-12-31"), ("00001986", "1986-12-31")] {
            let card = try CardSpecimen.of { $0.replaced["DBB"] = written }
            #expect(try card.read().identityCard.dateOfBirth?.text == latest)
            let assessment = try card.assessed()
            #expect(assessment.failed == [.birthday, .conformance])
            #expect(assessment.verdict == .inReview)
        }
        #expect(try CardSpecimen.of { $0.replaced["DBB"] = "00061986" }.assessed().verdict == .rejected)
    }

    @Test("of Arizona's first edition has its number in another element")
    func arizona() throws {
        let specimen = try CardSpecimen.of("AZ", version: 1)
        let card = try AAMVACard.read(specimen.text.replacing("DAQ", with: "DBJ"))
        #expect(card.identityCard.documentNumber == specimen.number)
        #expect(card.missingElements.isEmpty)
        // Later editions have no number there.
        let later = try CardSpecimen.of("AZ", version: 3).text.replacing("DAQ", with: "DBJ")
        #expect(try AAMVACard.read(later).missingElements == ["DAQ"])
    }

    @Test("comes from the Department of State or from Mexico as well")
    func otherIssuers() throws {
        for (number, country, jurisdiction) in [(636_027, "USA", nil), (636_056, "MEX", "CU"), (636_057, "MEX", "HL")] {
            let specimen = try CardSpecimen.of { $0.replaced["DCG"] = country }
            let text = specimen.text.replacing("ANSI 636000", with: "ANSI \(number)")
                .replacing("ZV", with: "Z" + (jurisdiction ?? "V").prefix(1))
            let card = try AAMVACard.read(text)
            #expect(card.identityCard.country == country)
            // The address in Virginia makes nobody its issuer.
            #expect(card.identityCard.jurisdiction == jurisdiction)
            let assessment = CardAssessment(
                .aamva(card), at: today.noon, policy: CardPolicy(), displayName: "Michael Sample")
            #expect(assessment.verdict == .accepted)
            let facts = try #require(CardFacts(card.identityCard))
            let written = [country, jurisdiction].compactMap(\.self).joined(separator: "-") + ":T64225789"
            #expect(DocumentName(written)?.fingerprints == DocumentName(facts)?.fingerprints)
        }
        #expect(DocumentName("MX-HL:1") != nil)
    }

    @Test(
        "is one person's with another where birthday and name agree, with further names or without",
        arguments: [
            ("MICHAEL JOHN SAMPLE JR", true), ("MICHAEL SAMPLE", true), ("SAMPLE MICHAEL", true),
            ("MICHAELJOHN SAMPLE", true),
            ("MICHAEL JOHN LEE SAMPLE", true), ("MICHAEL", false), ("MICHAEL JONES", false), ("MARTHA SAMPLE", false),
            ("MICHAEL MICHAEL", false),
        ])
    func samePerson(name: String, isSame: Bool) throws {
        func facts(_ name: String, _ birthday: String = "1986-06-06") throws -> CardFacts {
            let members = [
                ("source", "aamva"), ("kind", "licence"), ("family_name", name), ("date_of_birth", birthday),
                ("document_number", "T1"), ("last_four", "1"), ("expires_on", "2099-12-10"),
            ]
            let json = JSONValue.object(members.map { JSONMember(name: $0, value: .string($1)) })
            return try #require(CardFacts(jsonText: json.jsonText))
        }
        let former = try facts("MICHAEL JOHN SAMPLE JR")
        #expect(SamePerson.agree(former, try facts(name)) == isSame)
        #expect(SamePerson.agree(try facts(name), former) == isSame)
        #expect(!SamePerson.agree(former, try facts(name, "1986-06-07")))
        #expect(SamePerson.agree(try facts("JÖRG MÜLLER"), try facts("JOERG MUELLER")))
    }
}
