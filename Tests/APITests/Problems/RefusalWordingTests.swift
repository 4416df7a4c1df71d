import Domain
import Testing

@testable import API

@Suite("The sentence of a refusal")
struct RefusalWordingTests {
    @Test("names the member of the request or the call that it is about")
    func wording() {
        #expect(Refusal.notUUID(.newID).wording == "$.id: \(Refusal.notUUID(.newID).detail)")
        #expect(Refusal.clientOfAnotherApp.wording == "client_id: \(Refusal.clientOfAnotherApp.detail)")
        let first = Refusal.phoneRequired
        #expect(first.wording == "\(first.detail) Start at POST /phone-verifications.")
        let members = Refusal.Subject.allCases.compactMap(\.member)
        #expect(members.count > 25)
        #expect(Set(members).count == members.count)
    }
}
