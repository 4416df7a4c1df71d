import Encoding
import Fixtures
import Testing

@testable import API

@Suite("The audience of a client assertion")
struct AudienceTests {
    @Test("is this service alone, by one of its names or by several")
    func alone() async throws {
        try await RouterBench.run { bench in
            let names = ["https://public.example", "https://public.example/token", "https://client.example/token"]
            for audience in names.map({ [$0] }) + [names] {
                let assertion = try bench.assertion { $0[claim: "aud"] = .array(audience.map { .string($0) }) }
                #expect(try await bench.taken(assertion).status == 200, "\(audience)")
            }
            for audience in [names + ["https://other.example"], ["test", names[0]], []] {
                let assertion = try bench.assertion { $0[claim: "aud"] = .array(audience.map { .string($0) }) }
                #expect(try await bench.taken(assertion).text("error") == "invalid_client", "\(audience)")
            }
        }
    }
}
