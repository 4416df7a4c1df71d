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
        let name = try #require(DocumentName("D:L01X00T47"))
        #expect(!"\(name)".contains("L01X00T47"))
        #expect(name.fingerprints.count == IdentityCard.Kind.allCases.count)
    }
}
