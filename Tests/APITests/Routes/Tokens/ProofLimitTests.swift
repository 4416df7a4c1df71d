import Domain
import Encoding
import Fixtures
import Operations
import Testing
import Tokens

@testable import API

@Suite("The limit of a provider's proofs")
struct ProofLimitTests {
    @Test("holds on each route that takes one, and a proof beyond it changes nothing", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    @Test("is not used up by others who replay a spent one")
    func replays() async throws {
        let policy = RouterBench.policy {
            $0.accessTokens.provenPerMinute = 2
            ($0.requests.readsPerMinute, $0.requests.writesPerMinute, $0.requests.providerFactor) = (1, 1, 3)
        }
        try await RouterBench.run(policy) { bench in
            let spent = try bench.assertion()
            #expect(try await bench.taken(spent).status == 200)
            for _ in 0..<10 {
                let reply = try await bench.taken(spent)
                #expect(reply.status == 401 && reply.text("error_description")?.contains("client assertion") == true)
            }
            #expect(try await bench.taken(try bench.assertion()).status == 200)
        }
    }

    private static let policy = RouterBench.policy { $0.accessTokens.provenPerMinute = 1 }

    /// A second proof in a minute, on a route.
    private static func second(
        _ route: String, _ call: @escaping @Sendable (RouterBench) async throws -> Reply
    ) -> RouteCase {
        RouteCase(route, 429, .rateLimited, policy: policy) { bench in
            #expect(try await bench.taken(try bench.assertion()).status == 200)
            return try await call(bench)
        }
    }

    static let cases: [RouteCase] = [
        second("POST /introspect") { try await asserted($0, "/introspect") },
        second("POST /revoke") { try await asserted($0, "/revoke") },
        second("POST /provider/keys") { bench in
            let signer = try ProviderSigner(.es256)
            let proof = try signer.possessionProof(
                provider: bench.fixture.registration.provider.id, now: bench.fixture.clock.now)
            let body = JSONValue.object(["public_key": .string(signer.publicKeyPEM), "proof": .string(proof)]).jsonText
            let reply = try await bench.proven("POST /provider/keys", body: body)
            guard case .array(let keys)? = try await bench.provider("GET /provider")["keys"] else { return reply }
            #expect(keys.count == 1)
            return reply
        },
        second("DELETE /provider/keys/{key_id}") {
            try await $0.proven("DELETE /provider/keys/\($0.fixture.registration.keyID)")
        },
        second("PUT /provider/webhook") { bench in
            let reply = try await bench.proven("PUT /provider/webhook", body: #"{"url":"https://example.com/events"}"#)
            #expect(try await bench.provider("GET /provider/webhook").status == 404)
            return reply
        },
        second("DELETE /provider/webhook") { try await $0.proven("DELETE /provider/webhook") },
    ]

    private static func asserted(_ bench: RouterBench, _ path: String) async throws -> Reply {
        let reply = try await bench.post(
            path,
            ["token": "x", "client_assertion": try bench.assertion(), "client_assertion_type": ClientAssertion.type])
        #expect(reply.text("error") == "temporarily_unavailable")
        return reply
    }
}
