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

@Suite("The routes of the own data")
struct UserRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let endpoint = "arn:aws:sns:us-east-1:123456789012:endpoint/GCM/test/1"

    /// A banned user's export token, and the connection that it is bound to.
    private static func banned(_ bench: RouterBench) async throws -> (token: String, person: SignedIn) {
        let person = try await bench.signIn()
        try await bench.ban(person)
        let token = try bench.fixture.identityToken(person.user, on: person.connection)
        let refused = try await bench.client(
            "POST /sessions", json: #"{"identity_token":"\#(token)"}"#, on: person.connection)
        return (try #require(refused.text("export_token")), person)
    }

    static let cases: [RouteCase] = [
        RouteCase("GET /me", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await person.send("GET /me")
            #expect(reply.text("address") == "test/alice" && reply.text("assurance") == "none")
            #expect(reply["phone_number"] == .null && reply.text("user_id") == person.session.userID.description)
            return reply
        },
        RouteCase("PATCH /me", 200) { bench in
            // No proven number is needed.
            let person = try await bench.signIn()
            let reply = try await person.send("PATCH /me", json: #"{"push_endpoint":"\#(endpoint)"}"#)
            #expect(reply.text("push_endpoint") == endpoint && reply["call_endpoint"] == .null)
            return reply
        },
        RouteCase("PATCH /me", 200) { bench in
            let person = try await bench.signIn()
            _ = try await person.send("PATCH /me", json: #"{"push_endpoint":"\#(endpoint)"}"#)
            let reply = try await person.send("PATCH /me", json: #"{"call_endpoint":"\#(endpoint)2"}"#)
            #expect(reply.text("push_endpoint") == endpoint && reply.text("call_endpoint") == endpoint + "2")
            return reply
        },
        RouteCase("PATCH /me", 200) { bench in
            let person = try await bench.signIn()
            #expect(try await person.send("GET /me").text("message_storage") == "keep")
            let reply = try await person.send("PATCH /me", json: #"{"message_storage":"until_delivered"}"#)
            #expect(reply.text("message_storage") == "until_delivered" && reply["push_endpoint"] == .null)
            return reply
        },
        RouteCase("PATCH /me", 200) { bench in
            let person = try await bench.signIn()
            #expect(try await person.send("GET /me").text("presence") == "visible")
            let reply = try await person.send("PATCH /me", json: #"{"presence":"hidden"}"#)
            #expect(reply.text("presence") == "hidden")
            return reply
        },
        RouteCase("PATCH /me", 400, .malformedRequest) { bench in
            try await bench.signIn().send("PATCH /me", json: #"{"presence":"away"}"#)
        },
        RouteCase("PATCH /me", 400, .malformedRequest) { bench in
            try await bench.signIn().send("PATCH /me", json: "{}")
        },
        RouteCase("PATCH /me", 400, .malformedRequest) { bench in
            let person = try await bench.signIn()
            #expect(try await person.send("PATCH /me", json: "{}").status == 400)
            return try await person.send("PATCH /me", json: #"{"message_storage":"never"}"#)
        },
        RouteCase("PATCH /me", 400, .malformedRequest) { bench in
            let person = try await bench.signIn()
            return try await person.send("PATCH /me", json: #"{"push_endpoint":"arn:aws:sns:x"}"#)
        },
        RouteCase("GET /me/export", 200) { bench in
            let reply = try await bench.signIn().send("GET /me/export")
            #expect(reply.text("address") == "test/alice" && reply["sessions"] != nil)
            return reply
        },
        RouteCase("GET /me/export", 200) { bench in
            let (token, person) = try await banned(bench)
            let reply = try await bench.client(
                "GET /me/export", authorization: "Layer export-token=\"\(token)\"", on: person.connection)
            #expect(reply.text("user_id") == person.session.userID.description)
            return reply
        },
        RouteCase(
            "GET /me/export", 429, .rateLimited, policy: RouterBench.policy { $0.requests.exportsPerHour = 1 }
        ) { bench in
            let person = try await bench.signIn()
            #expect(try await person.send("GET /me/export").status == 200)
            return try await person.send("GET /me/export")
        },
        RouteCase("GET /me/export", 401, .sessionRequired) { bench in
            let (token, _) = try await banned(bench)
            return try await bench.client(
                "GET /me/export", authorization: "Layer export-token=\"\(token)\"",
                on: try await bench.fixture.connectNewDevice())
        },
        RouteCase("GET /me/export", 401, .sessionChallenged) { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(601)
            return try await person.send("GET /me/export")
        },
        RouteCase("DELETE /me", 202) { bench in
            let person = try await bench.signIn()
            let reply = try await person.send("DELETE /me")
            #expect(reply.text("receipt") != nil)
            #expect(try await person.send("GET /me").code == "session_destroyed")
            return reply
        },
        RouteCase("DELETE /me", 202) { bench in
            let (token, person) = try await banned(bench)
            return try await bench.client(
                "DELETE /me", authorization: "Layer export-token=\"\(token)\"", on: person.connection)
        },
        RouteCase("DELETE /me", 401, .sessionChallenged) { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(601)
            return try await person.send("DELETE /me")
        },
        // An export token opens these two calls, and no third.
        RouteCase("GET /me", 401, .sessionRequired) { bench in
            let (token, person) = try await banned(bench)
            return try await bench.client(
                "GET /me", authorization: "Layer export-token=\"\(token)\"", on: person.connection)
        },
    ]
}
