import Fixtures
import Foundation
import Testing

/// Users of the built binary who look for each other, judged by an implementation of RFC 9497 that is not ours.
@Suite("Contacts in the running service", .serialized)
struct ContactsTests {
    @Test("are found by an address, and privately with proofs that hold")
    func walk() async throws {
        let service = try await RunningService()
        try await expectScript(
            "Addresses/contacts.py", service.clientArguments + ["--texts", service.path("texts.jsonl").path],
            seconds: 400)
    }
}
