import Fixtures
import Foundation
import Testing

@Suite("Security events")
struct EventTests {
    @Test("reach a provider's receiver signed, once and for all attempts, and its own end sessions here")
    func events() async throws {
        let service = try await RunningService(arguments: ["--loopback-urls"])
        try await expectScript(
            "Providers/events.py", service.clientArguments + ["--texts", service.path("texts.jsonl").path])
    }

    @Test("go to no private or plain receiver: it is refused when it is set, in every spelling")
    func privateReceivers() async throws {
        let service = try await RunningService()
        try await expectScript("Providers/private_webhook.py", service.clientArguments)
    }
}
