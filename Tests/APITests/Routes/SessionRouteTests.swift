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

@Suite("The routes of nonces and sessions")
struct SessionRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static func create(_ token: String, _ bench: RouterBench, on connection: ClientConnection) async throws
        -> Reply
    {
        try await bench.client("POST /sessions", json: #"{"identity_token":"\#(token)"}"#, on: connection)
    }

    private static func resume(_ person: SignedIn, user: String? = nil, on connection: ClientConnection) async throws
        -> Reply
    {
        try await person.bench.client(
            "POST /sessions/resume",
            json: #"{"user_id":"\#(user ?? person.session.userID.description)","session_token":"\#(person.token)"}"#,
            on: connection)
    }

    private static func renew(_ person: SignedIn, as user: String) async throws -> Reply {
        let token = try person.bench.fixture.identityToken(user, on: person.connection)
        return try await person.send("POST /sessions/renew", json: #"{"identity_token":"\#(token)"}"#)
    }

    static let cases: [RouteCase] = [
        RouteCase("POST /nonces", 201) { bench in
            let reply = try await bench.client("POST /nonces", on: try await bench.fixture.connectNewDevice())
            #expect((reply.text("nonce")?.utf8.count ?? 0) >= 22 && reply.text("expires_at") != nil)
            return reply
        },
        RouteCase("GET /nonce", 401, .sessionRequired) { bench in
            try await bench.client("GET /nonce", on: try await bench.fixture.connectNewDevice())
        },
        RouteCase("POST /sessions", 201) { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let spent = bench.counted("nonces_spent_total")
            let reply = try await create(
                try bench.fixture.identityToken("alice", on: connection), bench, on: connection)
            #expect(reply.headers[.layerSessionToken] == reply.text("session_token"))
            #expect(reply.headers[.layerUserID] == reply.text("user_id"))
            #expect(reply.headers[.layerSessionTTL] != nil && reply.text("assurance") == "none")
            #expect(reply["cnf"]?["x5t#S256"]?.text == connection.thumbprint.base64URL)
            #expect(bench.counted("nonces_spent_total") > spent)
            return reply
        },
        RouteCase("POST /sessions", 422, .invalidIdentityToken, reason: "malformed") { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let reply = try await create("x", bench, on: connection)
            #expect(reply.text("nonce") != nil)
            return reply
        },
        RouteCase("POST /sessions", 422, .invalidIdentityToken, reason: "nonce_used") { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let token = try bench.fixture.identityToken("alice", on: connection)
            _ = try await create(token, bench, on: connection)
            return try await create(token, bench, on: connection)
        },
        RouteCase("POST /sessions", 403, .userBanned, reason: "spam") { bench in
            let person = try await bench.signIn()
            try await bench.ban(person)
            let token = try bench.fixture.identityToken("alice", on: person.connection)
            let reply = try await create(token, bench, on: person.connection)
            #expect(reply.text("export_token") != nil)
            return reply
        },
        RouteCase("POST /sessions", 429, .rateLimited, policy: RouterBench.policy { $0.sessions.createdPerMinute = 1 })
        { bench in
            let person = try await bench.signIn()
            let token = try bench.fixture.identityToken("alice", on: person.connection)
            return try await create(token, bench, on: person.connection)
        },
        RouteCase("GET /sessions", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await person.send("GET /sessions")
            guard case .array(let sessions) = reply["sessions"] else { return reply }
            #expect(sessions.count == 1 && sessions[0]["current"] == .bool(true))
            #expect(sessions[0]["id"]?.text == person.session.id.description)
            return reply
        },
        RouteCase("GET /sessions", 400, .malformedRequest) { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let token = try bench.fixture.identityToken("alice", on: connection)
            return try await bench.client(
                "GET /sessions", authorization: "Layer identity-token=\"\(token)\"", on: connection)
        },
        RouteCase("GET /sessions/current", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await person.send("GET /sessions/current")
            #expect(reply.text("session_id") == person.session.id.description && reply.text("state") == "authenticated")
            #expect(reply.text("connection_id") == person.connection.id.description)
            #expect(reply.text("device_attestation") == "none")
            return reply
        },
        // An identity token in the header opens the session with the first call.
        RouteCase("GET /sessions/current", 200) { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let token = try bench.fixture.identityToken("alice", on: connection)
            let reply = try await bench.client(
                "GET /sessions/current", authorization: "Layer identity-token=\"\(token)\"", on: connection)
            #expect(
                reply.headers[.layerSessionToken]?.isEmpty == false
                    && reply.headers[.layerUserID] == reply.text("user_id"))
            return reply
        },
        RouteCase("GET /sessions/current", 401, .invalidIdentityToken, reason: "malformed") { bench in
            try await bench.client(
                "GET /sessions/current", authorization: "Layer identity-token=\"x\"",
                on: try await bench.fixture.connectNewDevice())
        },
        RouteCase("DELETE /sessions/current", 204) { bench in
            let person = try await bench.signIn()
            let reply = try await person.send("DELETE /sessions/current")
            #expect(try await person.send("GET /sessions/current").code == "session_destroyed")
            return reply
        },
        RouteCase("DELETE /sessions/{id}", 204) { bench in
            let person = try await bench.signIn()
            let other = try await bench.fixture.opened("alice", on: person.connection)
            let reply = try await person.send("DELETE /sessions/\(other.session.id)")
            #expect(try await person.send("DELETE /sessions/\(other.session.id)").status == 404)
            return reply
        },
        RouteCase("DELETE /sessions/{id}", 404, .notFound) { bench in
            let stranger = try await bench.signIn("bob")
            return try await bench.signIn().send("DELETE /sessions/\(stranger.session.id)")
        },
        RouteCase("POST /sessions/resume", 200) { bench in
            let person = try await bench.signIn()
            let connection = try await bench.fixture.connect(person.connection.thumbprint)
            let reply = try await resume(person, on: connection)
            #expect(reply["session_token"] == nil && reply.text("session_id") == person.session.id.description)
            return reply
        },
        RouteCase("POST /sessions/resume", 401, .sessionDestroyed) { bench in
            let person = try await bench.signIn()
            return try await resume(person, user: UUID().uuidString, on: person.connection)
        },
        RouteCase("POST /sessions/resume", 401, .sessionChallenged) { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(3600)
            return try await resume(person, on: person.connection)
        },
        RouteCase("POST /sessions/resume", 403, .bindingMismatch) { bench in
            try await resume(try await bench.signIn(), on: try await bench.fixture.connectNewDevice())
        },
        RouteCase("POST /sessions/renew", 200) { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(3600)
            let reply = try await renew(person, as: "alice")
            #expect(
                reply.text("session_id") == person.session.id.description && reply.text("session_token") != person.token
            )
            return reply
        },
        RouteCase("POST /sessions/renew", 409, .conflict) { bench in
            let reply = try await renew(try await bench.signIn(), as: "alice")
            #expect(reply.text("state") == "authenticated")
            return reply
        },
        RouteCase("POST /sessions/renew", 409, .conflict) { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(3600)
            return try await renew(person, as: "mallory")
        },
        RouteCase("POST /sessions/renew", 422, .invalidIdentityToken, reason: "malformed") { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(3600)
            return try await person.send("POST /sessions/renew", json: #"{"identity_token":"x"}"#)
        },
        RouteCase(
            "POST /sessions/renew", 429, .rateLimited, policy: RouterBench.policy { $0.sessions.createdPerMinute = 1 }
        ) { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(3600)
            // One that is refused counts.
            _ = try await person.send("POST /sessions/renew", json: #"{"identity_token":"x"}"#)
            return try await renew(person, as: "alice")
        },
        RouteCase("POST /sessions/renew", 401, .sessionRequired) { bench in
            let person = try await bench.signIn()
            return try await bench.client(
                "POST /sessions/renew", json: #"{"identity_token":"x"}"#, on: person.connection)
        },
        RouteCase("DELETE /sessions/current", 401, .sessionRequired) { bench in
            try await bench.client("DELETE /sessions/current", on: try await bench.signIn().connection)
        },
    ]
}
