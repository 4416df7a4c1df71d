import Domain
import Encoding
import Fixtures
import Testing

@testable import Cards

@Suite("The issuer's signature in a barcode")
struct SignedSubfileTests {
    private static let text = CardSpecimen.unverifiedCredential

    /// What is found on a card whose element ZZA has a text.
    private func signature(_ text: String?) throws -> IssuerSignature {
        try CardSpecimen.of("CA") { $0.credential = text }.read().identityCard.issuerSignature
    }

    @Test("is present if the subfile ZZ has a credential, and none if there is no such subfile")
    func present() throws {
        let found = try signature(Self.text)
        #expect(found.state == .present && found.credential == Base64URL.decode(Self.text))
        #expect(try signature(nil) == IssuerSignature(.none))
        let zone = try MachineReadableZone.read(MachineReadableSpecimen(.td1).text, today: today)
        #expect(zone.identityCard.issuerSignature == IssuerSignature(.none))
    }

    @Test("is read in base64 and base64url, with padding and without")
    func alphabets() throws {
        let tag = CBORValue.tagged(CBORTag(0x0664, .bytes([0xFB, 0xFF, 0xFE, 0xFB])))
        let text = Base64URL.encode(tag.encoded)
        #expect(text.contains("-") || text.contains("_"))
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        for written in [text, standard, text + "=", standard + "=="] {
            #expect(try signature(written).credential == tag.encoded, "\(written)")
        }
    }

    @Test("is read whatever way the card departs from the standard", arguments: CardSpecimen.Deviation.allCases)
    func deviations(deviation: CardSpecimen.Deviation) throws {
        let card = try CardSpecimen.of("CA") { specimen in
            specimen.credential = Self.text
            specimen.deviations = [deviation]
        }.read()
        #expect(card.identityCard.issuerSignature.state == .present)
        #expect(card.identityCard.name.family == "SAMPLE" && card.missingElements.isEmpty)
    }

    @Test("conforms to the standard, and changes nothing of what the checks find")
    func conformance() throws {
        let signed = try CardSpecimen.of("CA") { $0.credential = Self.text }
        #expect(try signed.read().conformance.isConformant)
        #expect(try signed.assessed().checks.map(\.result) == CardSpecimen.of("CA").assessed().checks.map(\.result))
    }

    @Test("is read from California's own subfile, which other issuers use for something else")
    func california() throws {
        for (code, state) in [("CA", IssuerSignature.State.present), ("CO", .none), ("CT", .none)] {
            let text = try CardSpecimen.of(code).text.replacing("ZCZCA01", with: "ZCZCA01\nZCE" + Self.text)
            #expect(try AAMVACard.read(text).identityCard.issuerSignature.state == state, "\(code)")
        }
        let twice = try CardSpecimen.of("CA") { $0.credential = Self.text }.text
        let card = try AAMVACard.read(twice.replacing("ZCZCA01", with: "ZCZCA01\nZCE" + Self.text))
        #expect(card.identityCard.issuerSignature == IssuerSignature(.unreadable))
    }

    @Test("is unreadable if it is damaged, and the card is read all the same")
    func unreadable() throws {
        let number = CBORValue.unsigned(1)
        let foreign = CBORValue.tagged(CBORTag(24, number)).encoded
        let inTwo = Self.text + "\nZZA" + Self.text
        let long = CBORValue.tagged(CBORTag(0xCB1D, .bytes([UInt8](repeating: 7, count: 1000)[...]))).encoded
        let defects: KeyValuePairs = [
            "empty": "", "truncated": String(Self.text.dropLast(8)), "not base64url": "2cs!" + Self.text.dropFirst(4),
            "too much padding": Self.text + "===", "padding inside": "2csd=" + Self.text.dropFirst(4),
            "too long": Base64URL.encode(long), "no CBOR": Base64URL.encode([0xFF, 0xFF, 0xFF]),
            "no CBOR-LD": Base64URL.encode(number.encoded), "another tag": Base64URL.encode(foreign),
            "two": inTwo, "something after it": Base64URL.encode((Base64URL.decode(Self.text) ?? []) + [0]),
        ]
        for (name, text) in defects {
            #expect(try signature(text) == IssuerSignature(.unreadable), "\(name)")
            let card = try CardSpecimen.of("CA") { $0.credential = text }
            #expect(try card.assessed().failed == CardSpecimen.of("CA").assessed().failed, "\(name)")
        }
    }

    @Test("is unreadable if the header announces the subfile and the text ends before it")
    func cutOff() throws {
        let whole = try CardSpecimen.of("CA") { $0.credential = Self.text }.text
        let subfile = try #require(whole.firstRange(of: "ZZZZA"))
        let rest = String(whole[..<subfile.lowerBound])
        for end in ["", "ZZ\r", "ZZZZB1\r"] {
            let card = try AAMVACard.read(rest + end).identityCard
            #expect(card.issuerSignature == IssuerSignature(.unreadable))
            #expect(card.name.family == "SAMPLE")
        }
    }

    @Test("is kept with what is kept of a card, but for the credential once the number is dropped")
    func facts() throws {
        let card = try CardSpecimen.of("CA") { $0.credential = Self.text }.read().identityCard
        let facts = try #require(CardFacts(card))
        #expect(facts.issuerSignature == card.issuerSignature)
        #expect(CardFacts(jsonText: facts.jsonText) == facts)
        let purged = facts.without([.documentNumber], keeping: [])
        #expect(purged.issuerSignature == IssuerSignature(.present))
        #expect(CardFacts(jsonText: purged.jsonText) == purged)
        #expect(facts.without([.postalAddress], keeping: []).issuerSignature == card.issuerSignature)
        #expect(!"\(facts.issuerSignature)\([facts.issuerSignature])".contains("present"))
    }
}
