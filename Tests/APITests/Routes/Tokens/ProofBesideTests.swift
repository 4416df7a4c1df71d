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

@Suite("A fresh proof beside an access token")
struct ProofBesideTests {
    private static let body = #"{"url":"https://example.com/events"}"#

    private static func set(_ bench: RouterBench, _ access: String?, _ proofs: [String]) async throws -> Reply {
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.authorization] = access.map { "Bearer \($0)" }
        headers[values: try #require(HTTPField.Name("Countersign-Proof"))] = proofs
        return try await bench.send(
            .public, "PUT /provider/webhook", headers: headers,
            body: RequestBody(buffer: ByteBuffer(string: body)))
    }

    @Test("permits the one change that it was made for, once")
    func once() async throws {
        try await RouterBench.run { bench in
            for scope in ["users.read", ""] {
                let access = try await bench.access(scope)
                let proof = try bench.proof("PUT", "/provider/webhook", Self.body)
                #expect(try await Self.set(bench, access, [proof]).status == 200)
                let again = try await Self.set(bench, access, [proof])
                #expect(again.status == 401 && again.text("detail")?.contains("jti") == true)
            }
            let signer = try ProviderSigner(.es256)
            let possession = try signer.possessionProof(
                provider: bench.fixture.registration.provider.id, now: bench.fixture.clock.now)
            let key = JSONValue.object(["public_key": .string(signer.publicKeyPEM), "proof": .string(possession)])
                .jsonText
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.authorization] = "Bearer \(try await bench.access())"
            headers[try #require(HTTPField.Name("Countersign-Proof"))] = try bench.proof("POST", "/provider/keys", key)
            let added = try await bench.send(
                .public, "POST /provider/keys", headers: headers, body: RequestBody(buffer: ByteBuffer(string: key)))
            #expect(added.status == 201)
        }
    }

    @Test("is refused without the token, for another call or body, twice, or by another provider's or a revoked key")
    func refused() async throws {
        try await RouterBench.run { bench in
            let access = try await bench.access()
            let good = { try bench.proof("PUT", "/provider/webhook", Self.body) }
            let other = try ProviderSigner(.es256)
            let stranger = try await bench.fixture.admin.addProvider(
                name: "Other", slug: nil, account: nil, avatarHosts: [], key: try other.verificationKey)
            let foreign = try other.freshProviderToken(
                provider: stranger.provider.id, kid: stranger.keyID, realm: ServiceFixture.realm,
                identifier: UUID().uuidString,
                request: ProvenRequest(method: "PUT", path: "/provider/webhook", body: Array(Self.body.utf8)),
                now: bench.fixture.clock.now)
            for (what, token, proofs, status) in [
                ("no token", nil, [try good()], 401), ("no proof", access, [], 401),
                ("another method", access, [try bench.proof("DELETE", "/provider/webhook", Self.body)], 401),
                ("another body", access, [try bench.proof("PUT", "/provider/webhook", "{}")], 401),
                ("another path", access, [try bench.proof("PUT", "/provider/keys", Self.body)], 401),
                ("a token that is no proof", access, [try bench.bearer()], 401),
                ("the access token itself", access, [access], 401), ("another provider's", access, [foreign], 401),
                ("two", access, [try good(), try good()], 400),
                ("a proof beside what is no token", "x.y.z", [try good()], 401),
            ] as [(String, String?, [String], Int)] {
                let reply = try await Self.set(bench, token, proofs)
                #expect(reply.status == status, "\(what): \(reply.status)")
                reply.judge()
            }
            #expect(try await bench.open("GET /provider/webhook", bearer: access).status == 404)
            let proof = try good()
            _ = try await bench.fixture.revokeKeyByAdmin(
                bench.fixture.registration.keyID, endingSessions: false)
            #expect(try await Self.set(bench, access, [proof]).status == 401)
        }
    }
}
