import Domain
import Encoding
import Fixtures
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing
import Tokens

@testable import API

@Suite("A client's proof of itself")
struct ClientProofTests {
    @Test("has this service alone as its audience, by one of its names or by several")
    func audience() async throws {
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

    @Test("comes alone, after any number of blanks, and client_id is the provider's id")
    func proofs() async throws {
        try await RouterBench.run { bench in
            func form(_ more: [String: String] = [:]) throws -> [String: String] {
                [
                    "grant_type": "client_credentials", "client_assertion_type": ClientAssertion.type,
                    "client_assertion": try bench.assertion(),
                ].merging(more) { $1 }
            }
            func ask(_ form: [String: String], authorization: String? = nil) async throws -> Reply {
                var headers: HTTPFields = [.contentType: RouterBench.form]
                headers[.authorization] = authorization
                let body = form.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
                return try await bench.send(
                    .public, "POST /token", headers: headers, body: RequestBody(buffer: ByteBuffer(string: body)))
            }
            let twice = try await ask(try form(), authorization: "Basic YTpi")
            #expect(twice.status == 400 && twice.text("error") == "invalid_request")
            let secret = try await ask(try form(["client_secret": "x"]))
            #expect(secret.status == 400 && secret.text("error") == "invalid_request")
            let app = try await ask(try form(["client_id": bench.fixture.registration.applicationID.description]))
            #expect(app.text("error") == "invalid_client")
            #expect(app.text("error_description")?.contains("provider_id") == true)
            let token = try await bench.access()
            #expect(try await bench.post("/introspect", ["token": "x"], bearer: "  \(token)").status == 200)
        }
    }
}
