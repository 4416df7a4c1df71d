import Domain
import Testing

@testable import API

@Suite("The sentence of a refusal")
struct RefusalWordingTests {
    @Test("names the member of the request or the call that it is about")
    func wording() {
        let refusal = Refusal(.malformedRequest, "It is not a UUID.", about: .authorizationID)
        #expect(refusal.wording == "$.id: It is not a UUID.")
        let first = Refusal(.conflict, "Prove a phone number first.", about: .phoneVerification)
        #expect(first.wording == "Prove a phone number first. Start at POST /phone-verifications.")
        let members = Refusal.Subject.allCases.map { Refusal(.malformedRequest, "X", about: $0).wording }
        #expect(Set(members).count == members.count)
    }
}
