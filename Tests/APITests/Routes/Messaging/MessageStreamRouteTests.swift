import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

@testable import API

@Suite("The routes of streams of messages")
struct MessageStreamRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    typealias Pair = (ann: SignedIn, bob: SignedIn)

    /// Two users with an approved authorization; its id.
    private static func pair(_ bench: RouterBench) async throws -> (Pair, authorization: String) {
        let pair = (ann: try await bench.verified("ann", 1), bob: try await bench.verified("bob", 2))
        let id = try await bench.askPermission(pair.ann, pair.bob)
        let approved = try await pair.bob.send("POST /authorizations/\(id)/approval")
        #expect(approved.status == 200, "\(approved)")
        return (pair, id)
    }

    private static func open(
        _ kind: String, _ members: [SignedIn], by person: SignedIn, id: String = UUID().uuidString.lowercased()
    ) async throws -> Reply {
        let names = members.map { "\"\($0.session.userID)\"" }.joined(separator: ",")
        return try await person.send(
            "POST /streams", json: #"{"id":"\#(id)","kind":"\#(kind)","members":[\#(names)],"title":"A title"}"#)
    }

    private static func text(_ text: String, id: String = UUID().uuidString.lowercased()) -> String {
        #"{"id":"\#(id)","parts":[{"type":"text/plain","body":"\#(text)"}]}"#
    }

    /// A stream of two users with one message; its id and the message's.
    static func made(_ kind: String, _ bench: RouterBench) async throws -> (Pair, String, String) {
        let (pair, _) = try await pair(bench)
        let opened = try await open(kind, kind == "forum" ? [] : [pair.bob], by: pair.ann)
        let stream = try #require(opened.text("id"), "\(opened)")
        let sent = try await pair.ann.send("POST /streams/\(stream)/events", json: text("hello"))
        return (pair, stream, try #require(sent.text("id"), "\(sent)"))
    }

    /// What a call on a stream gives one of its users.
    static func on(
        _ kind: String, _ route: String, _ status: Int, _ code: Refusal.Code? = nil, json: String? = nil,
        state: String? = nil, byBob: Bool = false
    ) -> RouteCase {
        RouteCase(route, status, code) { bench in
            let (pair, stream, message) = try await made(kind, bench)
            let call = route.replacing("{id}", with: stream).replacing("{event}", with: message)
                .replacing("{user}", with: pair.bob.session.userID.description)
            let reply = try await (byBob ? pair.bob : pair.ann).send(call, json: json)
            #expect(reply.text("state") == state || code == nil, "\(reply)")
            return reply
        }
    }

    /// The same by somebody whom the stream is nothing to.
    static func strange(_ route: String, json: String? = nil) -> RouteCase {
        RouteCase(route, 404, .notFound) { bench in
            let (pair, stream, message) = try await made("conversation", bench)
            let call = route.replacing("{id}", with: stream).replacing("{event}", with: message)
                .replacing("{user}", with: pair.bob.session.userID.description)
            return try await bench.signIn("eve").send(call, json: json)
        }
    }

    static let cases = [opening, listing, messages, tagging, changing, synchronizing].flatMap(\.self)

    private static let opening: [RouteCase] = [
        RouteCase("POST /streams", 201) { bench in
            let (pair, _) = try await pair(bench)
            let id = UUID().uuidString.lowercased()
            let first = try await open("direct", [pair.bob], by: pair.ann, id: id)
            let again = try await open("direct", [pair.bob], by: pair.ann, id: id)
            #expect(first.body == again.body && again.text("id") == id && again.text("kind") == "direct")
            return again
        },
        RouteCase("POST /streams", 400, .malformedRequest) { bench in
            try await open("circle", [], by: try await bench.signIn())
        },
        RouteCase("POST /streams", 403, .notVerified, reason: "caller") { bench in
            try await open("forum", [], by: try await bench.signIn())
        },
        RouteCase("POST /streams", 404, .notFound) { bench in
            let (pair, stream, _) = try await made("conversation", bench)
            return try await open("forum", [], by: pair.bob, id: stream)
        },
        RouteCase("POST /streams", 409, .conflict) { bench in
            let (ann, bob) = (try await bench.verified("ann", 1), try await bench.verified("bob", 2))
            let reply = try await open("direct", [bob], by: ann)
            #expect(reply.text("state") == "unauthorized")
            return reply
        },
        RouteCase(
            "POST /streams", 429, .rateLimited, policy: RouterBench.policy { $0.streams.writesPerMinute = 1 }
        ) { bench in
            let ann = try await bench.verified("ann", 1)
            #expect(try await open("forum", [], by: ann).status == 201)
            return try await open("forum", [], by: ann)
        },
        on("direct", "DELETE /streams/{id}", 204, byBob: true),
        on("conversation", "DELETE /streams/{id}", 204, byBob: true),
        strange("DELETE /streams/{id}"),
        RouteCase("DELETE /streams/{id}", 409, .conflict) { bench in
            let (pair, stream, _) = try await made("conversation", bench)
            let bob = pair.bob.session.userID
            #expect(try await pair.ann.send("DELETE /streams/\(stream)/members/\(bob)").status == 204)
            let reply = try await pair.bob.send("DELETE /streams/\(stream)")
            #expect(reply.text("state") == "left")
            return reply
        },
    ]

    private static let listing: [RouteCase] = [
        RouteCase("GET /streams", 200) { bench in
            let (pair, stream, message) = try await made("direct", bench)
            let reply = try await pair.bob.send("GET /streams?kind=direct")
            guard case .array(let rows) = reply["streams"] else { return reply }
            #expect(rows.count == 1 && rows[0]["id"]?.text == stream && rows[0]["unread"] == .integer(1))
            #expect(rows[0]["last_event"]?["id"]?.text == message && rows[0]["title"]?.text == "A title")
            guard case .array(let members) = rows[0]["members"] else { return reply }
            #expect(Set(members.map { $0["address"]?.text }) == ["test/ann", "test/bob"])
            #expect(members.map { $0["initials"]?.text } == ["MS", "MS"] && rows[0]["profiles"] == .array([]))
            return reply
        },
        RouteCase("GET /streams", 400, .malformedRequest) { bench in
            try await bench.signIn().send("GET /streams?kind=lost")
        },
        RouteCase("GET /streams", 400, .malformedRequest) { bench in
            try await bench.signIn().send("GET /streams?cursor=x")
        },
        RouteCase("GET /streams", 200, policy: RouterBench.policy { $0.streams.indexedMetadata = ["topic", "pin"] }) {
            bench in
            let (pair, stream, _) = try await made("conversation", bench)
            _ = try await open("conversation", [], by: pair.ann)
            let call = "PATCH /streams/\(stream)/metadata"
            _ = try await pair.ann.send(call, json: #"{"set":{"topic":"a & b"}}"#)
            _ = try await pair.ann.send("\(call)/private", json: #"{"set":{"pin":1}}"#)
            func ids(_ reply: Reply) -> [String?]? {
                guard case .array(let rows) = reply["streams"] else { return nil }
                return rows.map { $0["id"]?.text }
            }
            let topic = "metadata.shared.topic=a%20%26%20b"
            let member = "member=test%2Fbob"
            #expect(ids(try await pair.ann.send("GET /streams"))?.count == 2)
            #expect(ids(try await pair.ann.send("GET /streams?\(member)")) == [stream])
            #expect(ids(try await pair.bob.send("GET /streams?metadata.private.pin=1")) == [])
            #expect(ids(try await pair.ann.send("GET /streams?\(topic)&kind=direct")) == [])
            let reply = try await pair.ann.send("GET /streams?\(topic)&\(member)&metadata.private.pin=1")
            #expect(ids(reply) == [stream])
            return reply
        },
        RouteCase("GET /streams", 400, .malformedRequest) { bench in
            let reply = try await bench.signIn().send("GET /streams?metadata.shared.topic=x")
            #expect(reply.text("detail")?.contains("metadata.shared.topic") == true)
            return reply
        },
        on("conversation", "GET /streams/{id}", 200, byBob: true), strange("GET /streams/{id}"),
    ]

    private static let messages: [RouteCase] = [
        RouteCase("POST /streams/{id}/events", 201) { bench in
            let (pair, stream, first) = try await made("direct", bench)
            let id = UUID().uuidString.lowercased()
            let body = text("hi", id: id).dropLast() + #","in_reply_to":"\#(first)"}"#
            let reply = try await pair.bob.send("POST /streams/\(stream)/events", json: String(body))
            let again = try await pair.bob.send("POST /streams/\(stream)/events", json: String(body))
            #expect(reply.body == again.body && again["sequence"] == .integer(2) && again.text("thread") == first)
            return again
        },
        on("direct", "POST /streams/{id}/events", 400, .malformedRequest, json: #"{"id":"x","parts":[]}"#),
        strange("POST /streams/{id}/events", json: text("x")),
        RouteCase("POST /streams/{id}/events", 409, .conflict) { bench in
            let (pair, authorization) = try await pair(bench)
            let stream = try #require(try await open("direct", [pair.bob], by: pair.ann).text("id"))
            _ = try await pair.bob.send("POST /authorizations/\(authorization)/cancellation")
            let reply = try await pair.ann.send("POST /streams/\(stream)/events", json: text("x"))
            #expect(reply.text("state") == "closed")
            return reply
        },
        RouteCase("POST /streams/{id}/events", 413, .payloadTooLarge) { bench in
            let (pair, stream, _) = try await made("direct", bench)
            let long = String(repeating: "x", count: 66_000)
            return try await pair.ann.send("POST /streams/\(stream)/events", json: text(long))
        },
        RouteCase("GET /streams/{id}/events", 200) { bench in
            let (pair, stream, message) = try await made("forum", bench)
            let reply = try await pair.bob.send("GET /streams/\(stream)/events?after=0&limit=5")
            guard case .array(let events) = reply["events"] else { return reply }
            #expect(events.count == 1 && events[0]["id"]?.text == message && reply["more"] == .bool(false))
            guard case .array(let profiles) = reply["profiles"] else { return reply }
            #expect(profiles.count == 1 && profiles[0]["user_id"] == events[0]["sender"])
            #expect(profiles[0]["address"]?.text == "test/ann" && profiles[0]["initials"]?.text == "MS")
            return reply
        },
        RouteCase("GET /streams/{id}/events", 400, .malformedRequest) { bench in
            let (pair, stream, _) = try await made("forum", bench)
            return try await pair.ann.send("GET /streams/\(stream)/events?after=1&before=2")
        },
        strange("GET /streams/{id}/events"),
        RouteCase("GET /streams/{id}/events", 409, .conflict) { bench in
            let (pair, stream, _) = try await made("direct", bench)
            _ = try await pair.bob.send("PUT /blocks/\(pair.ann.session.userID)")
            return try await pair.ann.send("GET /streams/\(stream)/events")
        },
        on("direct", "DELETE /streams/{id}/events/{event}", 204),
        on("direct", "DELETE /streams/{id}/events/{event}", 404, .notFound, byBob: true),
        RouteCase("DELETE /streams/{id}/events/{event}", 409, .conflict) { bench in
            let (pair, stream, message) = try await made("conversation", bench)
            let bob = pair.bob.session.userID
            _ = try await pair.ann.send("DELETE /streams/\(stream)/members/\(bob)")
            return try await pair.bob.send("DELETE /streams/\(stream)/events/\(message)")
        },
    ]

    private static let changing: [RouteCase] = [
        RouteCase("POST /streams/{id}/receipts", 200) { bench in
            let (pair, stream, _) = try await made("direct", bench)
            let reply = try await pair.bob.send("POST /streams/\(stream)/receipts", json: #"{"read_through":9}"#)
            #expect(reply["read_through"] == .integer(1) && reply["delivered_through"] == .integer(1))
            return reply
        },
        on("direct", "POST /streams/{id}/receipts", 400, .malformedRequest, json: #"{"read_through":-1}"#),
        on("forum", "POST /streams/{id}/receipts", 409, .conflict, json: "{}", state: "unsupported"),
        on("conversation", "POST /streams/{id}/typing", 204, byBob: true), strange("POST /streams/{id}/typing"),
        on("forum", "POST /streams/{id}/typing", 409, .conflict, state: "unsupported"),
        on("conversation", "PUT /streams/{id}/members/{user}", 204),
        on("direct", "PUT /streams/{id}/members/{user}", 409, .conflict, state: "unsupported"),
        strange("PUT /streams/{id}/members/{user}"),
        on("conversation", "DELETE /streams/{id}/members/{user}", 204, byBob: true),
        on("forum", "DELETE /streams/{id}/members/{user}", 409, .conflict, state: "unsupported"),
        RouteCase("PATCH /streams/{id}/metadata", 200) { bench in
            let (pair, stream, _) = try await made("conversation", bench)
            let call = "PATCH /streams/\(stream)/metadata"
            _ = try await pair.bob.send(call, json: #"{"set":{"a":{"b":1},"c":2}}"#)
            let reply = try await pair.ann.send(call, json: #"{"merge":{"a":{"d":3},"c":null}}"#)
            #expect(try reply["metadata"] == StrictJSON.parse(#"{"a":{"b":1,"d":3}}"#.utf8))
            return reply
        },
        on("direct", "PATCH /streams/{id}/metadata", 400, .malformedRequest, json: #"{"set":{},"merge":{}}"#),
        on("forum", "PATCH /streams/{id}/metadata", 404, .notFound, json: #"{"set":{}}"#, byBob: true),
        RouteCase("PATCH /streams/{id}/metadata", 409, .conflict) { bench in
            let (pair, stream, _) = try await made("direct", bench)
            _ = try await pair.bob.send("PUT /blocks/\(pair.ann.session.userID)")
            return try await pair.ann.send("PATCH /streams/\(stream)/metadata", json: #"{"set":{}}"#)
        },
        RouteCase("PATCH /streams/{id}/metadata/private", 200) { bench in
            let (pair, stream, _) = try await made("conversation", bench)
            let reply = try await pair.bob.send(
                "PATCH /streams/\(stream)/metadata/private", json: #"{"set":{"muted":true}}"#)
            #expect(reply["private_metadata"]?["muted"] == .bool(true))
            let seen = [
                try await pair.ann.send("GET /streams/\(stream)"), try await pair.bob.send("GET /streams/\(stream)"),
            ]
            #expect(seen.map { $0["private_metadata"]?["muted"] } == [nil, .bool(true)])
            return reply
        },
        on("forum", "PATCH /streams/{id}/metadata/private", 409, .conflict, json: #"{"set":{}}"#, state: "unsupported"),
    ]

    private static let synchronizing: [RouteCase] = [
        RouteCase("GET /sync", 200) { bench in
            let (pair, stream, _) = try await made("direct", bench)
            let reply = try await pair.bob.send("GET /sync?anchor=0&wait=0")
            guard case .array(let operations) = reply["operations"] else { return reply }
            #expect(operations.count == 1 && operations[0]["operation"]?.text == "NEW_MESSAGE")
            #expect(operations[0]["stream_id"]?.text == stream && operations[0]["event_id"] == .null)
            let next = try await pair.bob.send("GET /sync?anchor=\(try #require(reply.text("anchor")))")
            #expect(next["operations"] == .array([]) && next.text("anchor") == reply.text("anchor"))
            // A longer wait than the service allows is shortened, and the response says to what.
            let long = try await pair.bob.send("GET /sync?anchor=0&wait=60")
            #expect(long["wait"] == .integer(25) && reply["wait"] == .integer(0) && next["wait"] == .integer(0))
            return reply
        },
        RouteCase("GET /sync", 400, .malformedRequest) { bench in try await bench.signIn().send("GET /sync?anchor=x") },
        RouteCase(
            "GET /sync", 429, .rateLimited, policy: RouterBench.policy { $0.streams.readsPerMinute = 1 }
        ) { bench in
            let person = try await bench.signIn()
            #expect(try await person.send("GET /sync").status == 200)
            return try await person.send("GET /sync")
        },
        RouteCase("GET /sync", 400, .malformedRequest) { bench in try await bench.signIn().send("GET /sync?wait=-1") },
    ]
}
