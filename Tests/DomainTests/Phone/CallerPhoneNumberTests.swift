import Domain
import PhoneNumbers
import Testing

@Suite("A telephone number that a caller wrote")
struct CallerPhoneNumberTests {
    @Test("is refused with the defect as reason, and the refusal holds nothing of the number")
    func refused() throws {
        let refusal = #expect(throws: Refusal.self) { try PhoneNumber(fromCaller: "+1 415 555 267") }
        #expect(refusal?.code == .malformedRequest)
        #expect(refusal?.reason == .tooShort)
        #expect(refusal?.privateDetail == nil)
        #expect(refusal?.description.contains("415") == false)
    }

    @Test("is the number that its plan knows")
    func read() throws {
        #expect(try PhoneNumber(fromCaller: "(415) 555-2671", region: "US").e164 == "+14155552671")
    }

    @Test("is requested with + where no region can be named")
    func nationalForm() {
        let local = #expect(throws: Refusal.self) { try PhoneNumber(fromCaller: "2025550151") }
        #expect(local?.reason == .regionNeeded && local?.detail.contains("region") == false)
        let regional = #expect(throws: Refusal.self) { try PhoneNumber(fromCaller: "2025550151", region: nil) }
        #expect(regional?.reason == .regionNeeded && regional?.detail.contains("region") == true)
        let short = #expect(throws: Refusal.self) { try PhoneNumber(fromCaller: "+1") }
        #expect(short?.reason == .tooShort)
    }
}
