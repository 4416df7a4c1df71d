import Fixtures
import Foundation
import Testing

@Suite("Clients of OAuth that were made for any service")
struct OAuthTests {
    @Test("find the endpoints, sign in, exchange the session's token, and take and use a provider's")
    func authlib() async throws {
        let service = try await RunningService()
        try await expectScript("oauth.py", service.clientArguments, seconds: 120)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("internal_error"))
        // The one JWS in a log is the audit log's checkpoint.
        let signed = log.split(separator: "\n").filter { $0.contains("eyJ") && !$0.contains("\"audit checkpoint\"") }
        #expect(signed.isEmpty)
    }
}
