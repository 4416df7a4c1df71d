import Fixtures
import Testing

@testable import Cards
@testable import Domain

@Suite("An AAMVA card")
struct AAMVACardTests {
    static let versions = Array(1...11)

    /// What every specimen says, in whatever way it is written.
    private func expectSample(_ card: AAMVACard, _ specimen: CardSpecimen) {
        let read = card.identityCard
        #expect(read.source == .aamva)
        #expect(read.kind == (specimen.subfile == "ID" ? .identification : .licence))
        #expect(read.name.family == "SAMPLE")
        #expect(read.name.given == "MICHAEL")
        #expect(read.name.middle == "JOHN")
        #expect(read.name.suffix == "JR")
        #expect(read.name.full == "MICHAEL JOHN SAMPLE JR")
        #expect(read.dateOfBirth?.text == "1986-06-16")
        #expect(read.issuedOn == specimen.issue)
        #expect(read.expiresOn?.text == "2032-12-10")
        #expect(read.documentNumber == specimen.number)
        #expect(read.address?.street == "2300 WEST BROAD STREET")
        #expect(read.address?.city == "RICHMOND")
        #expect(read.address?.jurisdiction == specimen.jurisdiction.code)
        #expect(read.jurisdiction == specimen.jurisdiction.code)
        #expect(read.country == specimen.jurisdiction.country)
        #expect(read.sex == .male)
        #expect(card.missingElements.isEmpty)
    }

    @Test("with more than 30 combining marks in a row is refused before it is read, and so are tracks")
    func marks() throws {
        let text = try CardSpecimen.of().text
        let marks = String(repeating: "\u{301}", count: 31)
        for bent in [text.replacing("DCSSAMPLE", with: "DCSSAMPLE" + marks), "%VA" + marks + "^?;636000"] {
            #expect(throws: Refusal.barcodeNotStreamSafe) {
                _ = try ScannedCard.read(barcode: Array(bent.utf8), today: today)
            }
        }
        let fair = text.replacing("DCSSAMPLE", with: "DCSSAMPLE" + String(repeating: "\u{301}", count: 30))
        _ = try ScannedCard.read(barcode: Array(fair.utf8), today: today)
    }

    @Test("of every version and jurisdiction is read as it is written, and conforms", arguments: versions)
    func roundTrip(version: Int) throws {
        for jurisdiction in Jurisdiction.all {
            for subfile in ["DL", "ID", "EN"] {
                let specimen = try CardSpecimen.of(jurisdiction.code, version: version) { $0.subfile = subfile }
                let card = try specimen.read()
                expectSample(card, specimen)
                #expect(card.conformance.departures.isEmpty, "\(version) \(jurisdiction.code) \(subfile)")
                #expect(card.header.issuerNumber == jurisdiction.issuerNumber)
                #expect(card.version.number == version)
                #expect(try specimen.assessed().failed.isEmpty, "\(version) \(jurisdiction.code) \(subfile)")
            }
        }
    }

    /// What each deviation must be named; none for those that the standard leaves open.
    static let named: [CardSpecimen.Deviation: Set<AAMVAConformance.Kind>] = [
        .fileTypeAAMVA: [.fileType], .fileTypeAMVA: [.fileType], .missingEntryCount: [.entryCount],
        .wrongOffsets: [.subfileOffset], .wrongLengths: [.subfileLength],
        .missingOffsetsAndLengths: [.subfileDesignator], .barSeparator: [.barSeparator],
        .carriageReturnLineFeed: [.carriageReturnSeparator], .byteOrderMark: [.byteOrderMark],
        .trailingCommas: [.trailingComma], .missingLeadingZeros: [.dateZeros], .otherDateOrder: [.dateOrder],
        .wrongIssuerNumber: [.issuerNumber], .missingComplianceIndicator: [.complianceIndicator],
        .missingFinalReturn: [.subfileLength],
    ]

    @Test("with any deviation of real cards is read all the same, and the departure is named", arguments: versions)
    func deviations(version: Int) throws {
        for code in ["VA", "CA", "TX", "PR", "ON", "QC", "BC"] {
            for deviation in CardSpecimen.Deviation.allCases {
                let specimen = try CardSpecimen.of(code, version: version) { $0.deviations = [deviation] }
                let card = try specimen.read()
                expectSample(card, specimen)
                let expected = Self.named[deviation] ?? []
                #expect(card.conformance.kinds.isSuperset(of: expected), "\(version) \(code) \(deviation)")
                #expect(card.conformance.kinds.isEmpty == expected.isEmpty, "\(version) \(code) \(deviation)")
            }
        }
    }

    @Test("with any two deviations at once is read all the same", arguments: CardSpecimen.Deviation.allCases)
    func pairs(first: CardSpecimen.Deviation) throws {
        for second in CardSpecimen.Deviation.allCases {
            // A date in the other order and without zeros is still the same day; two separators exclude each other.
            for (code, version) in [("VA", 10), ("ON", 8), ("CA", 3), ("NY", 1)] {
                let specimen = try CardSpecimen.of(code, version: version) { $0.deviations = [first, second] }
                expectSample(try specimen.read(), specimen)
            }
        }
    }

    @Test("that the standard prints as its example is read, with the source of each field")
    func standardExample() throws {
        let text =
            "@\n\u{1E}\rANSI 636000100002DL00410278ZV03190008DLDAQT64235789\nDCSSAMPLE\nDDEN\nDACMICHAEL\nDDFN\n"
            + "DADJOHN\nDDGN\nDCUJR\nDCAD\nDCBK\nDCDPH\nDBD06062019\nDBB06061986\nDBA12102024\nDBC1\nDAU068 in\n"
            + "DAYBRO\nDAG2300 WEST BROAD STREET\nDAIRICHMOND\nDAJVA\nDAK232690000  \nDCF2424244747474786102204\n"
            + "DCGUSA\nDCK123456789\nDDAF\nDDB06062018\nDDC06062020\nDDD1\rZVZVA01\r"
        let card = try AAMVACard.read(text)
        #expect(card.identityCard.documentNumber == "T64235789")
        #expect(card.identityCard.lastFour == "5789")
        #expect(card.identityCard.address?.postalCode == "23269")
        #expect(card.identityCard.compliance == .full)
        #expect(card.identityCard.isLimitedDuration == true)
        #expect(card.identityCard.name.familyTruncation == .complete)
        #expect(card.identityCard.documentDiscriminator == "2424244747474786102204")
        #expect(card.conformance.isConformant)
        let family = card.identityCard.provenance(of: .familyName)
        #expect(family == [CardField(element: "DCS", raw: "SAMPLE", subfile: "DL", property: .familyName)])
        let own = card.identityCard.fields.last
        #expect(own == CardField(element: "ZVA", raw: "01", subfile: "ZV", property: nil))
        #expect(card.identityCard.fields.contains { $0.element == "DCK" && $0.raw == "123456789" })
    }

    @Test("of the 2025 edition keeps the elements that are new in it")
    func edition2025() throws {
        let card = try CardSpecimen.of(version: 11).read()
        #expect(card.version.year == 2025)
        #expect(Set(card.identityCard.fields.map(\.element)).isSuperset(of: ["DDM", "DDN", "DDO"]))
    }

    @Test("with names under another version's elements is read, and the departure named")
    func foreignNames() throws {
        let old = try CardSpecimen.of(version: 3).text
        let separate = old.replacing("DCTMICHAEL,JOHN", with: "DACMICHAEL\nDADJOHN")
        let together = try CardSpecimen.of(version: 8).text.replacing("DACMICHAEL", with: "DCTMICHAEL JOHN")
            .replacing("DADJOHN", with: "DAD")
        let whole = try CardSpecimen.of(version: 10).text.replacing("DCSSAMPLE", with: "DAASAMPLE,MICHAEL,JOHN,JR")
            .replacing("DACMICHAEL\n", with: "")
        let blanks = try CardSpecimen.of(version: 1).text.replacing(
            "SAMPLE,MICHAEL,JOHN,JR", with: "MICHAEL JOHN SAMPLE")
        for text in [separate, together, whole, blanks] {
            let card = try AAMVACard.read(text)
            #expect(card.identityCard.name.family == "SAMPLE")
            #expect(card.identityCard.name.given == "MICHAEL")
            #expect(card.identityCard.name.middle == "JOHN")
            #expect(!card.conformance.kinds.isDisjoint(with: [.nameElements, .nameSeparator]))
        }
    }

    @Test("with an unknown or missing version is read by the elements that it has")
    func unknownVersion() throws {
        for (version, other) in [(1, "00"), (3, "63"), (10, "99")] {
            let text = try CardSpecimen.of(version: version).text
            let number = version == 10 ? "10" : "0\(version)"
            let card = try AAMVACard.read(text.replacing("ANSI 636000\(number)", with: "ANSI 636000\(other)"))
            #expect(card.identityCard.name.full == "MICHAEL JOHN SAMPLE JR")
            #expect(card.conformance.kinds.contains(.versionNumber))
        }
    }

    @Test("in ISO 8859-1 or UTF-8 gives the same name")
    func characterSets() throws {
        let specimen = try CardSpecimen.of("QC") { $0.family = "GAGNÉ" }
        let latin = specimen.text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        #expect(try AAMVACard.read(latin).identityCard.name.family == "GAGNÉ")
        #expect(try specimen.read().identityCard.name.family == "GAGNÉ")
        #expect(try specimen.read().conformance.kinds == [.characterSet])
    }

    @Test("has its control and format characters taken out of values and kept in the raw field")
    func controlCharacters() throws {
        let card = try CardSpecimen.of { $0.city = "RICH\u{202E}MO\u{7F}ND\u{0}" }.read()
        #expect(card.identityCard.address?.city == "RICHMOND")
        #expect(card.identityCard.provenance(of: .city).first?.raw == "RICH\u{202E}MO\u{7F}ND")
        #expect(card.conformance.kinds.contains(.characterSet))
    }

    @Test("that is none is refused as malformed, with a sentence for the developer")
    func malformed() throws {
        let many = "@\n\u{1E}\rANSI 636000100001DLDAQ1\n" + String(repeating: "DAQ1\n", count: 300)
        let long = try CardSpecimen.of { $0.street = String(repeating: "X", count: 9000) }.text
        for text in ["", "hello", "@\n\u{1E}\r", "@\n\u{1E}\rANSI 636000100001DL00410278", "ANSI ", many, long] {
            let refusal = #expect(throws: Refusal.self) { try AAMVACard.read(text) }
            #expect(refusal?.code == .malformedRequest)
        }
    }

    @Test("says nothing of its holder when it is described, dumped or put into a message")
    func descriptions() throws {
        let card = try CardSpecimen.of().read()
        let fingerprint = CardFingerprint(card.identityCard)
        var dumped = ""
        dump(card, to: &dumped)
        dump(card.identityCard, to: &dumped)
        dump(fingerprint, to: &dumped)
        dumped += "\(card) \(card.identityCard) \(card.identityCard.name) \(card.identityCard.fields) \(fingerprint)"
        dumped += String(reflecting: card.identityCard.address) + "\(String(describing: card.identityCard.dateOfBirth))"
        dumped += "\(ScannedCard.aamva(card))"
        for datum in ["SAMPLE", "MICHAEL", "1986", "T64225789", "BROAD", "23269"] {
            #expect(!dumped.contains(datum), "\(datum)")
        }
    }
}
