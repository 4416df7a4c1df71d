import Domain
import Encoding
import PhoneNumbers
import Testing

@Suite("Reasons of refusals")
struct RefusalReasonTests {
    @Test("A defect of a key or a number has the same word as reason")
    func words() {
        for reason in PublicKeyDefect.Reason.allCases { #expect(Refusal.Reason(reason).rawValue == reason.rawValue) }
        for defect in PhoneNumberDefect.allCases { #expect(Refusal.Reason(defect).rawValue == defect.rawValue) }
    }

    @Test("The company's word for a ban stands in the place of the reason, and refusals are compared by it")
    func bans() throws {
        let spam = try #require(Ban.Reason(rawValue: "spam"))
        #expect(Refusal(.userBanned, "", banReason: spam).reasonText == "spam")
        #expect(Refusal(.userBanned, "", banReason: spam) != Refusal(.userBanned, ""))
        #expect(Refusal(.invalidCSR, "", reason: .gate).reasonText == "gate")
        #expect(Refusal(.invalidCSR, "", reason: .gate) != Refusal(.invalidCSR, "", reason: .badProof))
    }

    @Test("Who lacks a level is told the way to that very level")
    func ways() {
        #expect(Refusal.levelRequired(.phone, from: .none).detail.hasSuffix("Verify a phone number first."))
        for level in [Assurance.barcode, .issuerChecked, .credential] {
            // A card is refused without a number.
            let both = Refusal.levelRequired(level, from: .none).detail
            #expect(both.contains("Verify a phone number, then show a card"))
            let card = Refusal.levelRequired(level, from: .phone).detail
            #expect(card.contains("First show a card") && !card.contains("number"))
        }
    }
}
