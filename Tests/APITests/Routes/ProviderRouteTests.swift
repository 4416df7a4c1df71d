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

@Suite("The routes of providers")
struct ProviderRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let form = "application/x-www-form-urlencoded"

    private static func newKey(_ bench: RouterBench, _ signer: ProviderSigner, proof: ProviderSigner? = nil)
        async throws -> Reply
    {
        let proof = try (proof ?? signer).possessionProof(
            provider: bench.fixture.registration.provider.id, now: bench.fixture.clock.now)
        let body = JSONValue.object(["public_key": .string(signer.publicKeyPEM), "proof": .string(proof)]).jsonText
        return try await bench.proven("POST /provider/keys", body: body)
    }

    @Test("look at the key again when the body has come: one that was revoked meanwhile learns nothing")
    func heldBack() async throws {
        for (call, type, body) in [
            ("POST /introspect", Self.form, "token=x"),
            ("POST /provider/token-check", "application/json", #"{"identity_token":"x"}"#),
        ] {
            try await RouterBench.run { bench in
                let fixture = bench.fixture
                let keyID = fixture.registration.keyID
                let held = HeldBody(bytes: ByteBuffer(string: body)) {
                    _ = try await fixture.revokeKeyByAdmin(keyID, endingSessions: false)
                }
                let reply = try await bench.send(
                    .public, call, headers: [.authorization: "Bearer \(try bench.bearer())", .contentType: type],
                    body: RequestBody(asyncSequence: held))
                #expect(reply.status == 401 && reply.code == "provider_token_invalid", "\(call): \(reply.status)")
                reply.judge()
            }
        }
    }

    static let cases: [RouteCase] = [
        RouteCase("GET /provider", 200) { bench in
            let reply = try await bench.provider("GET /provider")
            #expect(reply.text("provider_id") == bench.fixture.registration.provider.id.description)
            #expect(reply.text("slug") == "test" && reply["keys"] != nil && reply["apps"] != nil)
            return reply
        },
        RouteCase("POST /provider/keys", 201) { bench in
            let reply = try await newKey(bench, try ProviderSigner(.es256))
            #expect(reply.text("key_id") != nil)
            return reply
        },
        RouteCase("POST /provider/keys", 400, .malformedRequest) { bench in
            try await bench.proven("POST /provider/keys", body: #"{"public_key":1,"proof":"x"}"#)
        },
        RouteCase("POST /provider/keys", 401, .providerTokenInvalid) { bench in
            // A token for an hour is no proof that is made for the call.
            try await bench.provider("POST /provider/keys", body: "{}")
        },
        RouteCase("POST /provider/keys", 409, .conflict) { bench in try await newKey(bench, bench.fixture.signer) },
        RouteCase("POST /provider/keys", 422, .invalidProviderKey, reason: "bad_proof") { bench in
            try await newKey(bench, try ProviderSigner(.es256), proof: try ProviderSigner(.es256))
        },
        RouteCase("DELETE /provider/keys/{key_id}", 204) { bench in
            let added = try await newKey(bench, try ProviderSigner(.es256))
            return try await bench.proven("DELETE /provider/keys/\(try #require(added.text("key_id")))")
        },
        RouteCase("DELETE /provider/keys/{key_id}", 404, .notFound) { bench in
            try await bench.proven("DELETE /provider/keys/\(UUID().uuidString.lowercased())")
        },
        RouteCase("DELETE /provider/keys/{key_id}", 409, .conflict) { bench in
            let reply = try await bench.proven("DELETE /provider/keys/\(bench.fixture.registration.keyID)")
            #expect(reply.text("state") == "last_key")
            return reply
        },
        RouteCase("POST /introspect", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await bench.provider("POST /introspect", body: "token=\(person.token)", type: form)
            #expect(reply["active"] == .bool(true) && reply.text("sub") == "alice")
            #expect(reply.text("sid") == person.session.id.description)
            return reply
        },
        RouteCase("POST /introspect", 200) { bench in
            let reply = try await bench.provider("POST /introspect", body: "token=x", type: form)
            #expect(String(decoding: reply.body, as: UTF8.self) == #"{"active":false}"#)
            return reply
        },
        RouteCase("POST /introspect", 400, .malformedRequest) { bench in
            try await bench.provider("POST /introspect", body: "token=a&token=b", type: form)
        },
        RouteCase("POST /revoke", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await bench.provider("POST /revoke", body: "token=\(person.token)", type: form)
            #expect(try await person.send("GET /me").code == "session_destroyed")
            return reply
        },
        RouteCase("POST /revoke", 400, .malformedRequest) { bench in
            try await bench.provider("POST /revoke", body: "token=", type: form)
        },
        RouteCase("GET /provider/users/{external_id}", 200) { bench in
            let person = try await bench.verified("ann", 1)
            let reply = try await bench.provider("GET /provider/users/ann")
            #expect(reply.text("user_id") == person.session.userID.description && reply.text("assurance") == "barcode")
            #expect(reply["age_over_21"] == .bool(true) && reply.text("initials") == "MS")
            #expect(reply["banned"] == .bool(false) && reply.text("external_id") == "ann")
            return reply
        },
        RouteCase("GET /provider/user-ids/{user_id}", 200) { bench in
            let person = try await bench.verified("ann", 1)
            let reply = try await bench.provider("GET /provider/user-ids/\(person.session.userID)")
            #expect(reply.body == (try await bench.provider("GET /provider/users/ann")).body)
            return reply
        },
        RouteCase("GET /provider/user-ids/{user_id}", 404, .notFound) { bench in
            let person = try await bench.verified("ann", 1)
            #expect(try await person.send("DELETE /me").status == 202)
            for id in [UUID().uuidString, "ann"] {
                #expect(try await bench.provider("GET /provider/user-ids/\(id)").status == 404, "\(id)")
            }
            return try await bench.provider("GET /provider/user-ids/\(person.session.userID)")
        },
        RouteCase("GET /provider/users/{external_id}", 404, .notFound) { bench in
            try await bench.provider("GET /provider/users/nobody")
        },
        RouteCase("GET /provider/users/{external_id}/history", 200) { bench in
            let person = try await bench.signIn()
            try await WriteSignIns(bench.fixture.context)()
            let reply = try await bench.provider("GET /provider/users/alice/history")
            guard case .array(let events)? = reply["events"], case .array(let devices)? = reply["devices"] else {
                Issue.record("\(reply.status)")
                return reply
            }
            #expect(Set(events.map { $0["type"]?.text }) == ["sign_in", "session"] && devices.count == 1)
            #expect(events.allSatisfy { $0["session_id"]?.text == person.session.id.description })
            #expect(events.allSatisfy { $0["device_id"]?.text == devices.first?["device_id"]?.text })
            #expect(reply["cursor"] == .null)
            return reply
        },
        RouteCase("GET /provider/users/{external_id}/history", 400, .malformedRequest) { bench in
            _ = try await bench.signIn()
            return try await bench.provider("GET /provider/users/alice/history?cursor=x")
        },
        RouteCase("GET /provider/users/{external_id}/history", 404, .notFound) { bench in
            try await bench.provider("GET /provider/users/nobody/history")
        },
        RouteCase("DELETE /provider/users/{external_id}/sessions", 204) { bench in
            let person = try await bench.signIn()
            let reply = try await bench.provider("DELETE /provider/users/alice/sessions")
            #expect(try await person.send("GET /me").code == "session_destroyed")
            return reply
        },
        RouteCase("DELETE /provider/users/{external_id}/sessions", 404, .notFound) { bench in
            try await bench.provider("DELETE /provider/users/nobody/sessions")
        },
        RouteCase("POST /provider/users/{external_id}/notifications", 202) { bench in
            let person = try await bench.signIn()
            let call = "POST /provider/users/alice/notifications"
            let body = #"{"id":"\#(UUID().uuidString)","body":"Hello","data":{"UserFrom":"bob"}}"#
            let reply = try await bench.provider(call, body: body)
            #expect(try await bench.provider(call, body: body).status == 202)
            let found = try await person.send("GET /sync?anchor=0")
            guard case .array(let operations)? = found["operations"] else { return found }
            #expect(operations.count == 1 && operations.first?["operation"]?.text == "NOTIFICATION")
            let notification = operations.first?["notification"]
            #expect(notification?["body"]?.text == "Hello" && notification?["data"]?["UserFrom"]?.text == "bob")
            #expect(notification?["id"]?.text == reply.text("id") && operations.first?["stream_id"] == .null)
            return reply
        },
        notification(404, .notFound, to: "nobody"),
        notification(400, .malformedRequest, more: #","data":{"aps":"x"}"#),
        notification(400, .malformedRequest, more: #","data":{"number":1}"#),
        notification(400, .malformedRequest, more: #","urgent":true"#),
        notification(413, .payloadTooLarge, more: #","body":"\#(String(repeating: "x", count: 4096))""#),
        RouteCase("POST /provider/users/{external_id}/notifications", 403, .insufficientScope) { bench in
            try await bench.open(
                "POST /provider/users/alice/notifications", body: "{}", bearer: try await bench.access("users.read"))
        },
        RouteCase("POST /provider/users/{external_id}/notifications", 429, .rateLimited) { bench in
            _ = try await bench.signIn()
            for _ in 0..<60 {
                #expect(try await notify("alice", bench).status == 202)
            }
            return try await notify("alice", bench)
        },
        RouteCase("POST /provider/token-check", 200) { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let token = try bench.fixture.identityToken("alice", on: connection)
            let reply = try await bench.provider("POST /provider/token-check", body: #"{"identity_token":"\#(token)"}"#)
            #expect(reply["valid"] == .bool(true) && reply["defects"] == .array([]))
            return reply
        },
        RouteCase("POST /provider/token-check", 200) { bench in
            let reply = try await bench.provider("POST /provider/token-check", body: #"{"identity_token":"x"}"#)
            #expect(reply["valid"] == .bool(false) && reply["defects"] != .array([]))
            return reply
        },
    ]

    private static func notify(_ user: String, _ bench: RouterBench, _ more: String = "") async throws -> Reply {
        try await bench.provider(
            "POST /provider/users/\(user)/notifications", body: #"{"id":"\#(UUID().uuidString)"\#(more)}"#)
    }

    private static func notification(
        _ status: Int, _ code: Refusal.Code, to user: String = "alice", more: String = ""
    ) -> RouteCase {
        RouteCase("POST /provider/users/{external_id}/notifications", status, code) { bench in
            _ = try await bench.signIn()
            return try await notify(user, bench, more)
        }
    }
}

/// A body that is sent once something else has happened, after somebody began to read it.
private struct HeldBody: AsyncSequence, Sendable {
    let bytes: ByteBuffer
    let first: @Sendable () async throws -> Void

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    struct Iterator: AsyncIteratorProtocol {
        var body: HeldBody?

        mutating func next() async throws -> ByteBuffer? {
            guard let held = body else { return nil }
            body = nil
            try await held.first()
            return held.bytes
        }
    }
}
