import Fixtures
import Foundation
import Testing

@Suite("Personal data in the running service", .serialized)
struct CanaryTests {
    @Test("Nothing that people entrust stands in clear in the store, its log, the service's log, metrics or errors")
    func canaries() async throws {
        let service = try await RunningService(policies: [
            "phones.yaml": """
            push_applications: ["arn:aws:sns:us-east-1:123456789012:app/GCM/canary"]

            """
        ])
        let output = try await expectScript(
            "Users/canary.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                "--pid", "\(service.processIdentifier)",
            ], seconds: 400)
        #expect(output.contains("none found"))
        #expect(service.ended(within: 120) == 0)
    }
}
