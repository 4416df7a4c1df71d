import Fixtures
import Foundation
import Testing

@Suite("The commands for issuers")
struct IssuerListTests {
    @Test("fetch, verify and show a list that other programs made, and add and remove certificates")
    func lists() async throws {
        let service = try await RunningService()
        let output = try await expectScript(
            "Wallet/vical.py",
            ["--countersign", try RunningService.product("countersign"), "--directory", service.directory.path])
        #expect(output == "lists are fetched, kept and refused\n")
    }
}
