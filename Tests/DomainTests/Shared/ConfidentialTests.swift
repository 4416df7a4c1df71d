import Domain
import Foundation
import PhoneNumbers
import Testing

@Suite("What is known of a person")
struct ConfidentialTests {
    /// Everything that Swift can be made to say of a value, by itself and inside others.
    private static func sayings(_ value: some Any) -> String {
        var said = "\(value) \(String(describing: value)) \(String(reflecting: value)) \([value]) \(["key": value])"
        said += " \(String(reflecting: Optional(value))) \(String(reflecting: [value]))"
        for wrapped in [value, [value], Optional(value) as Any, (1, value)] as [Any] { dump(wrapped, to: &said) }
        for child in Mirror(reflecting: value).children { dump(child.value, to: &said) }
        return said
    }

    @Test("A telephone number shows its country and two digits, however it is described, dumped or mirrored")
    func phoneNumber() throws {
        let number = try PhoneNumber(reading: "+14155552671")
        let said = Self.sayings(number)
        #expect("\(number)" == "+1…71")
        for run in ["4155552671", "415", "5552671", "2671", "555"] { #expect(!said.contains(run), "\(run)") }
        #expect(Mirror(reflecting: number).children.isEmpty)
    }

    @Test("A name, an address, a birthday and a card show their type alone")
    func card() throws {
        var card = IdentityCard(source: .aamva, kind: .licence)
        card.name = PersonName(family: "CANARY", given: "ADA")
        card.dateOfBirth = CalendarDate("1986-06-06")
        card.expiresOn = CalendarDate("2032-12-10")
        card.address = PostalAddress(street: "2300 BROAD STREET", city: "RICHMOND")
        card.documentNumber = "T64235789"
        let facts = try #require(CardFacts(card))
        let user = AuthenticatedUser(
            userID: UserID(UUID()), suspended: nil, phoneNumber: "+14155552671",
            fullName: facts.fullName, dateOfBirth: facts.dateOfBirth, postalAddress: facts.address?.line,
            documentNumber: facts.documentNumber, jurisdiction: "VA", phoneVerifiedAt: .distantPast,
            identityVerifiedAt: nil)
        let said = Self.sayings(card) + Self.sayings(card.name) + Self.sayings(facts) + Self.sayings(user)
        for canary in ["CANARY", "ADA", "1986", "BROAD", "RICHMOND", "T64235789", "4155552671", "arn:"] {
            #expect(!said.contains(canary), "\(canary)")
        }
    }
}
