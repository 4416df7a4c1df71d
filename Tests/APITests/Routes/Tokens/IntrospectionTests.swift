import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing

@testable import API
@testable import Tokens

@Suite("What a provider is told of a session")
struct IntrospectionTests {
    private static let type = "application/token-introspection+jwt"

    private static func asked(_ bench: RouterBench, _ token: String, accept: String) async throws -> Reply {
        try await bench.send(
            .public, "POST /introspect",
            headers: [
                .contentType: RouterBench.form, .accept: accept, .authorization: "Bearer \(try bench.bearer())",
            ], body: RequestBody(buffer: ByteBuffer(string: RouterBench.encoded(["token": token]))))
    }

    @Test("is signed for it on request, in a token that is none for access", arguments: AccessTokenAlgorithm.allCases)
    func signed(_ algorithm: AccessTokenAlgorithm) async throws {
        try await RouterBench.run { bench in
            try await bench.fixture.admin.setTokenAlgorithm(algorithm, of: "test")
            try await bench.fixture.watch.poll()
            let keys = try #require(ServiceFixture.accessTokens)
            let key = algorithm == .es256 ? keys.publishedCurve : try #require(keys.published.first)
            let person = try await bench.signIn()
            for (token, isActive) in [(person.token, true), ("x", false)] {
                let plain = try await Self.asked(bench, token, accept: "application/json")
                let reply = try await Self.asked(bench, token, accept: Self.type)
                #expect(reply.status == 200 && reply.headers[.contentType] == Self.type)
                #expect(reply.headers[.cacheControl] == "no-store")
                let text = String(decoding: reply.body, as: UTF8.self)
                let signed = try UnverifiedToken(text, refusing: .malformedRequest)
                #expect(signed.header.type == "token-introspection+jwt" && signed.header.keyID == key.id)
                #expect(signed.header.algorithm == algorithm.rawValue)
                #expect(key.key.isValid(signature: signed.signature, over: signed.signingInput))
                let claims = signed.payload
                #expect(claims["token_introspection"] == (try StrictJSON.parse(plain.body)))
                #expect(claims["token_introspection"]?["active"] == .bool(isActive))
                #expect(claims["iss"]?.text == "https://public.example")
                #expect(claims["aud"]?.text == bench.fixture.registration.provider.id.description)
                #expect(claims["iat"] == .integer(Int64(bench.fixture.clock.now.timeIntervalSince1970)))
                #expect(claims["sub"] == nil && claims["exp"] == nil && claims["cnf"] == nil)
                // It opens nothing.
                #expect(try await bench.open("GET /provider", bearer: text).status == 401)
                let client = try await bench.client(
                    "GET /sessions/current", authorization: "Bearer \(text)", on: person.connection)
                #expect(client.status == 401)
            }
        }
    }

    @Test("is signed for it so many times in a minute, and plain as often as it asks")
    func limit() async throws {
        try await RouterBench.run(RouterBench.policy { $0.accessTokens.provenPerMinute = 2 }) { bench in
            for status in [200, 200, 429] {
                let reply = try await Self.asked(bench, "x", accept: Self.type)
                #expect(reply.status == status && (reply.text("error") == "temporarily_unavailable") == (status == 429))
                #expect(try await Self.asked(bench, "x", accept: "application/json").status == 200)
            }
            bench.fixture.clock.advance(31)
            #expect(try await Self.asked(bench, "x", accept: Self.type).status == 200)
        }
    }

    @Test("says of a person whether a card proved an age, and nothing else of the card")
    func claims() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.verified("ann", 1)
            let access = try await bench.access("sessions.read users.read")
            let told = try await bench.post("/introspect", ["token": person.token], bearer: access)
            let claims = try #require(told["verified_claims"])
            #expect(claims["verification"]?["trust_framework"] == .string("countersign"))
            #expect(claims["verification"]?["assurance_level"] == told["assurance"])
            #expect(claims["verification"]?["evidence"] == .array([.object(["type": .string("document")])]))
            #expect(claims["verification"]?["time"]?.text?.hasSuffix("Z") == true)
            #expect(claims["claims"] == .object(["age_over_18": .bool(true), "age_over_21": .bool(true)]))
            guard case .object(let members) = claims else { throw Refusal(.notFound, "no claims") }
            #expect(members.map(\.name) == ["verification", "claims"])
            let blind = try await bench.post(
                "/introspect", ["token": person.token], bearer: try await bench.access("sessions.read"))
            #expect(blind["active"] == .bool(true) && blind["verified_claims"] == nil)

            let asked = try await Self.exchanged(person, scope: "openid verified_claims")
            #expect(asked.text("scope") == "verified_claims")
            let token = try UnverifiedToken(try #require(asked.text("access_token")), refusing: .malformedRequest)
            #expect(token.payload["verified_claims"] == claims && token.payload["scope"]?.text == "verified_claims")
            let unasked = try await Self.exchanged(person, scope: "openid")
            let other = try UnverifiedToken(try #require(unasked.text("access_token")), refusing: .malformedRequest)
            #expect(other.payload["verified_claims"] == nil && unasked["scope"] == nil)
            // Who has shown no card has nothing to say.
            let stranger = try await bench.signIn("bob")
            let none = try await Self.exchanged(stranger, scope: "verified_claims")
            #expect(none.status == 200 && none["scope"] == nil)
            let silent = try await bench.post("/introspect", ["token": stranger.token], bearer: access)
            #expect(silent["active"] == .bool(true) && silent["verified_claims"] == nil)
        }
    }

    private static func exchanged(_ person: SignedIn, scope: String) async throws -> Reply {
        try await person.bench.askToken(
            [
                "grant_type": RouterBench.exchange, "subject_token": person.token,
                "subject_token_type": RouterBench.accessToken, "scope": scope,
                "audience": person.session.providerID.description,
            ], on: person.connection)
    }

    @Test("and revocation refuse an access token of this service, and say which keys verify it")
    func accessTokens() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let own = try await bench.exchanged(person.token, on: person.connection).text("access_token") ?? ""
            let bearer = try await bench.access()
            for call in ["/introspect", "/revoke"] {
                for token in [own, bearer] {
                    let reply = try await bench.post(call, ["token": token], bearer: bearer)
                    #expect(reply.status == 400 && reply.text("error") == "invalid_request", "\(call)")
                    #expect(reply.text("error_description")?.contains("/.well-known/jwks.json") == true)
                }
                let forged = own.dropLast(8) + "AAAAAAAA"
                #expect(try await bench.post(call, ["token": String(forged)], bearer: bearer).status == 200)
            }
        }
    }
}
