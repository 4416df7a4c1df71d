import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing
import Tokens

@testable import API

@Suite("A proof that is made for one request")
struct ForeignProofTests {
    /// Every call of a provider's that takes a bearer token, with a body that it can read.
    private static let calls: [(call: String, body: String?, type: String)] = [
        ("GET /provider", nil, ""), ("GET /provider/users/alice", nil, ""), ("GET /provider/user-ids/x", nil, ""),
        ("GET /provider/users/alice/history", nil, ""), ("DELETE /provider/users/alice/sessions", nil, ""),
        ("POST /provider/token-check", #"{"identity_token":"x"}"#, "application/json"),
        ("POST /introspect", "token=x", RouterBench.form), ("POST /revoke", "token=x", RouterBench.form),
        ("GET /provider/webhook", nil, ""), ("GET /ssf/streams", nil, ""),
        ("POST /ssf/streams", "{}", "application/json"),
        ("PATCH /ssf/streams", "{}", "application/json"), ("PUT /ssf/streams", "{}", "application/json"),
        ("DELETE /ssf/streams?stream_id=x", nil, ""), ("GET /ssf/status?stream_id=x", nil, ""),
        ("POST /ssf/status", "{}", "application/json"), ("POST /ssf/verification", "{}", "application/json"),
        ("POST /ssf/subjects/add", "{}", "application/json"), ("POST /ssf/subjects/remove", "{}", "application/json"),
        ("POST /ssf/poll/x", "{}", "application/json"),
    ]

    private static func isTokenRefused(_ reply: Reply) -> Bool { reply.code == "provider_token_invalid" }

    @Test("opens no other call as a bearer token")
    func otherCalls() async throws {
        try await RouterBench.run { bench in
            _ = try await bench.signIn()
            let foreign = try [
                bench.proof("PUT", "/provider/webhook", "{}"), bench.proof("DELETE", "/provider/keys/x", ""),
                bench.proof("POST", "/provider/keys", "{}"),
            ]
            for (call, body, type) in Self.calls {
                for proof in foreign {
                    let reply = try await bench.open(call, body: body, type: type, bearer: proof)
                    #expect(reply.status == 401 && Self.isTokenRefused(reply), "\(call): \(reply.status)")
                    reply.judge()
                }
                guard ProviderDemandTests.table[call.prefix { $0 != "?" }.description]?.proof != .required else {
                    continue
                }
                let usual = try await bench.open(call, body: body, type: type, bearer: try bench.bearer())
                #expect(!Self.isTokenRefused(usual) && usual.status < 500, "\(call): \(usual.status)")
            }
            #expect(try await bench.provider("GET /provider/users/alice").status == 200)
        }
    }

    @Test("opens its own call, and is remembered for none")
    func ownCall() async throws {
        try await RouterBench.run { bench in
            let proof = try bench.proof("POST", "/introspect", "token=x")
            let own = try await bench.open("POST /introspect", body: "token=x", type: RouterBench.form, bearer: proof)
            #expect(own.status == 200)
            #expect(bench.fixture.context.providerFromMemory(.of(proof), for: .sessionsRead) == nil)
            let bearer = try bench.bearer()
            _ = try await bench.open("POST /introspect", body: "token=x", type: RouterBench.form, bearer: bearer)
            #expect(bench.fixture.context.providerFromMemory(.of(bearer), for: .sessionsRead) != nil)
            #expect(try await bench.open("GET /provider", bearer: proof).status == 401)
        }
    }

    @Test("gives no access beside another proof either")
    func beside() async throws {
        try await RouterBench.run { bench in
            let body = #"{"url":"https://example.com/events"}"#
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.authorization] = "Bearer \(try bench.proof("POST", "/provider/keys", "{}"))"
            headers[try #require(HTTPField.Name("Countersign-Proof"))] = try bench.proof(
                "PUT", "/provider/webhook", body)
            let reply = try await bench.send(
                .public, "PUT /provider/webhook", headers: headers, body: RequestBody(buffer: ByteBuffer(string: body)))
            #expect(reply.status == 401 && Self.isTokenRefused(reply))
        }
    }
}
