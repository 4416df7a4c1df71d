import Domain
import Fixtures
import Foundation
import Testing

@testable import Cards

@Suite("Documents as admins name them")
struct DocumentNameTests {
    @Test(
        "name the card that was shown, however the number is spelt, for every jurisdiction",
        arguments: Jurisdiction.all)
    func cards(jurisdiction: Jurisdiction) throws {
        let card = try CardSpecimen.of(jurisdiction.code).read().identityCard
        let fingerprint = try #require(CardFingerprint(card).document)
        let facts = try #require(CardFacts(card))
        let spaced = card.documentNumber.lowercased().map { "\($0)-" }.joined()
        for name in [
            DocumentName(facts), DocumentName("\(jurisdiction.code):\(card.documentNumber)"),
            DocumentName("\(jurisdiction.code.lowercased()): \(spaced)"),
            DocumentName("\(jurisdiction.country)-\(jurisdiction.code):\(card.documentNumber)"),
        ] {
            #expect(try #require(name).fingerprints.contains(fingerprint))
        }
        #expect(DocumentName("USA:\(card.documentNumber)")?.fingerprints.contains(fingerprint) == false)
    }

    @Test("are refused without issuer or number, and say nothing when they are described")
    func refused() throws {
        for text in ["", "VA", "VA:", ":T64", "XX:1", "VA:---", "USA-XX:1", "CAN-VA:1", "VIRGINIA:1", "V1:1", "US:1"] {
            #expect(DocumentName(text) == nil, "\(text)")
        }
        let name = try #require(DocumentName("FRA:L01X00T47"))
        #expect(!"\(name)".contains("L01X00T47"))
        #expect(name.fingerprints.count == IdentityCard.Kind.allCases.count)
    }

    @Test("find a document under every code of its issuer", arguments: [["D", "DEU"], ["RKS", "XKX"]])
    func synonyms(codes: [String]) throws {
        for shown in codes {
            var card = IdentityCard(source: .mrz, kind: .passport)
            (card.country, card.documentNumber) = (shown, "C01X00T47")
            let fingerprint = try #require(CardFingerprint(card).document)
            for written in codes {
                #expect(DocumentName("\(written.lowercased()):c01x00t47")?.fingerprints.contains(fingerprint) == true)
            }
        }
    }

    @Test("have a country's code only if a zone with it is accepted, so that no ban finds nobody")
    func countries() {
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) }
        let three = letters.flatMap { first in letters.flatMap { second in letters.map { first + second + $0 } } }
        for code in letters + three {
            #expect((DocumentName("\(code):C01X00T47") != nil) == IssuingState.isKnown(code), "\(code)")
        }
        for code in ["GER", "JAL", "UTO", "G"] { #expect(DocumentName("\(code):C01X00T47") == nil, "\(code)") }
    }
}
