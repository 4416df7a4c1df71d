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

@Suite("The routes of webhooks and events")
struct WebhookRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let url = #"{"url":"https://receiver.invalid/hook"}"#

    /// Tells that a user's sessions are over, by a Security Event Token.
    static func logout(_ user: String, _ bench: RouterBench) throws -> String {
        let provider = bench.fixture.registration.provider.id.description
        return try told(
            ProviderEvent.sessionRevokedType,
            ["format": .string("iss_sub"), "iss": .string(provider), "sub": .string(user)], bench)
    }

    /// A Security Event Token of the provider.
    private static func told(
        _ type: String, _ subject: KeyValuePairs<String, JSONValue?>, _ bench: RouterBench,
        _ details: JSONValue = .object([])
    ) throws -> String {
        let fixture = bench.fixture
        let provider = fixture.registration.provider.id.description
        var draft = TokenDraft(header: [JSONMember(name: "alg", value: .string("ES256"))])
        draft[header: "typ"] = .string("secevent+jwt")
        draft[header: "kid"] = .string(fixture.registration.keyID.description)
        draft[claim: "iss"] = .string(provider)
        draft[claim: "aud"] = .string(ServiceFixture.realm)
        draft[claim: "iat"] = .integer(Int64(fixture.clock.now.timeIntervalSince1970))
        draft[claim: "jti"] = .string(UUID().uuidString)
        draft[claim: "sub_id"] = .object(subject)
        draft[claim: "events"] = .object([JSONMember(name: type, value: details)])
        return try fixture.signer.sign(draft)
    }

    static let event = "application/secevent+jwt"

    static let cases: [RouteCase] = [
        RouteCase("PUT /provider/webhook", 200) { bench in
            let reply = try await bench.proven("PUT /provider/webhook", body: url)
            #expect(reply.text("url") == "https://receiver.invalid/hook")
            return reply
        },
        RouteCase("PUT /provider/webhook", 400, .malformedRequest) { bench in
            try await bench.proven("PUT /provider/webhook", body: #"{"url":"https://127.0.0.1/"}"#)
        },
        RouteCase("PUT /provider/webhook", 401, .providerTokenInvalid) { bench in
            try await bench.provider("PUT /provider/webhook", body: url)
        },
        RouteCase("PUT /provider/webhook", 429, .rateLimited) { bench in
            for _ in 0..<10 { _ = try await bench.proven("PUT /provider/webhook", body: url) }
            let removal = try await bench.proven("DELETE /provider/webhook")
            #expect(removal.status == 429)
            return try await bench.proven("PUT /provider/webhook", body: url)
        },
        RouteCase("GET /provider/webhook", 200) { bench in
            _ = try await bench.proven("PUT /provider/webhook", body: url)
            let reply = try await bench.provider("GET /provider/webhook")
            #expect(reply.text("url") == "https://receiver.invalid/hook")
            return reply
        },
        RouteCase("GET /provider/webhook", 404, .notFound) { bench in try await bench.provider("GET /provider/webhook")
        },
        RouteCase("DELETE /provider/webhook", 204) { bench in
            _ = try await bench.proven("PUT /provider/webhook", body: url)
            let reply = try await bench.proven("DELETE /provider/webhook")
            #expect(try await bench.provider("GET /provider/webhook").status == 404)
            return reply
        },
        RouteCase("POST /provider/webhook/test", 202) { bench in
            _ = try await bench.proven("PUT /provider/webhook", body: url)
            let reply = try await bench.provider("POST /provider/webhook/test")
            let waiting = try await bench.fixture.admin.listOutbox(.waiting, limit: 10)
            #expect(waiting.map(\.id.description) == [try #require(reply.text("jti"))])
            #expect(waiting.first?.expiresAt == bench.fixture.clock.now.addingTimeInterval(300))
            return reply
        },
        RouteCase("POST /provider/webhook/test", 403, .insufficientScope) { bench in
            try await bench.open("POST /provider/webhook/test", bearer: try await bench.access("ssf.read"))
        },
        RouteCase("POST /provider/webhook/test", 404, .notFound) { bench in
            try await bench.provider("POST /provider/webhook/test")
        },
        RouteCase("POST /provider/webhook/test", 429, .rateLimited) { bench in
            _ = try await bench.proven("PUT /provider/webhook", body: url)
            _ = try await bench.provider("POST /provider/webhook/test")
            let reply = try await bench.provider("POST /provider/webhook/test")
            bench.fixture.clock.advance(5)
            #expect(try await bench.provider("POST /provider/webhook/test").status == 202)
            return reply
        },
        RouteCase("POST /provider/events", 202) { bench in
            let person = try await bench.signIn()
            let reply = try await bench.open("POST /provider/events", body: try logout("alice", bench), type: event)
            #expect(try await person.send("GET /me").code == "session_destroyed" && reply.body.isEmpty)
            return reply
        },
        RouteCase("POST /provider/events", 202) { bench in
            let person = try await bench.signIn()
            let named = try told(
                ProviderEvent.sessionRevokedType, ["format": .string("email"), "email": .string("alice")], bench)
            let reply = try await bench.open("POST /provider/events", body: named, type: event)
            #expect(try await person.send("GET /me").code == "session_destroyed")
            return reply
        },
        RouteCase("POST /provider/events", 202) { bench in
            let person = try await bench.signIn()
            let stream: KeyValuePairs<String, JSONValue?> = ["format": .string("opaque"), "id": .string("stream 1")]
            let updated = try told(StreamEvent.updatedType, stream, bench, .object(["status": .string("paused")]))
            #expect(try await bench.open("POST /provider/events", body: updated, type: event).status == 202)
            let verification = try told(StreamEvent.verificationType, stream, bench)
            let reply = try await bench.open("POST /provider/events", body: verification, type: event)
            #expect(try await person.send("GET /me").status == 200)
            return reply
        },
        RouteCase("POST /provider/events", 400, .providerTokenInvalid) { bench in
            let stream: KeyValuePairs<String, JSONValue?> = ["format": .string("opaque"), "id": .string("stream 1")]
            let unasked = try told(StreamEvent.verificationType, stream, bench, .object(["state": .string("x")]))
            let reply = try await bench.open("POST /provider/events", body: unasked, type: event)
            #expect(reply.text("err") == "invalid_state")
            return reply
        },
        RouteCase("POST /provider/events", 400, .providerTokenInvalid) { bench in
            let reply = try await bench.open("POST /provider/events", body: "x.y.z", type: event)
            #expect(reply.text("err") == "invalid_request" && reply.headers[.contentLanguage] == "en")
            return reply
        },
    ]
}
