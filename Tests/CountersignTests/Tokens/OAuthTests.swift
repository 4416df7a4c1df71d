import Fixtures
import Foundation
import Testing

@Suite("Clients of OAuth that were made for any service")
struct OAuthTests {
    @Test("find the endpoints, sign in, exchange the session's token, and take and use a provider's")
    func authlib() async throws {
        let service = try await RunningService()
        try await expectScript("Sessions/oauth.py", service.clientArguments, seconds: 400)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("internal_error"))
        // The one JWS in a log is the audit log's checkpoint.
        let signed = log.split(separator: "\n").filter { $0.contains("eyJ") && !$0.contains("\"audit checkpoint\"") }
        #expect(signed.isEmpty)
    }

    @Test("verify a session's token by the key set, RS256 and ES256, refuse others', and take a provider's token")
    func verifiers() async throws {
        let service = try await RunningService()
        for algorithm in ["RS256", "ES256"] {
            let chosen = try await service.countersign(["provider", "set", "test", "--token-alg", algorithm])
            #expect(chosen.status == 0)
            try await expectScript(
                "Sessions/verifiers.py", service.clientArguments + ["--algorithm", algorithm], seconds: 400)
        }
        #expect(service.stop() == 0)
    }
}
