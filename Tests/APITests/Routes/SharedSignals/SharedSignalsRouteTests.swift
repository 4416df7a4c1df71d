import Database
import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Repositories
import Testing

@testable import API

@Suite("The routes of Shared Signals")
struct SharedSignalsRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    static let push = #""delivery":{"method":"urn:ietf:rfc:8935","endpoint_url":"https://receiver.invalid/events"}"#
    static let streams = "/ssf/streams"

    @Test("read a token in no URL, and let a token that only reads read")
    func scopes() async throws {
        try await RouterBench.run { bench in
            let (reading, managing) = (try await bench.access("ssf.read"), try await bench.access("ssf.manage"))
            let made = try await bench.open("POST \(Self.streams)", body: "{}", bearer: managing)
            let id = try #require(made.text("stream_id"))
            for bearer in [reading, managing] {
                for path in ["/ssf/streams", "/ssf/streams?stream_id=\(id)", "/ssf/status?stream_id=\(id)"] {
                    #expect(try await bench.open("GET \(path)", bearer: bearer).status == 200)
                    let join = path.contains("?") ? "&" : "?"
                    let shown = try await bench.open("GET \(path)\(join)access_token=\(bearer)")
                    #expect(shown.status == 401 && shown.text("error") == "invalid_token")
                }
            }
            let body = #"{"stream_id":"\#(id)","status":"paused"}"#
            for (call, body) in [
                ("POST /ssf/streams", "{}"), ("PATCH /ssf/streams", body), ("PUT /ssf/streams", body),
                ("DELETE /ssf/streams?stream_id=\(id)", body), ("POST /ssf/status", body),
                ("POST /ssf/verification", body), ("POST /ssf/poll/\(id)", body),
            ] {
                let reply = try await bench.open(call, body: body, bearer: reading)
                #expect(reply.status == 403 && reply.text("error") == "insufficient_scope", "\(call)")
                #expect(reply.headers[.wwwAuthenticate]?.contains("error=\"insufficient_scope\"") == true, "\(call)")
            }
        }
    }

    @Test("let a stream be changed in part or as a whole, and what the service sets be repeated but not changed")
    func changes() async throws {
        try await RouterBench.run { bench in
            let stream = try await bench.stream(
                #"{"events_requested":["urn:unknown","\#(ProviderEvent.sessionRevokedType)"],"description":"one"}"#)
            let id = try #require(stream.text("stream_id"))
            #expect(stream["events_delivered"] == .array([.string(ProviderEvent.sessionRevokedType)]))
            #expect(stream.text("iss") == "https://public.example" && stream.text("signing_alg") == "RS256")
            let whole = String(decoding: stream.body, as: UTF8.self)
            #expect(try await bench.proven("PATCH \(Self.streams)", body: whole).body == stream.body)
            let part = try await bench.proven(
                "PATCH \(Self.streams)", body: #"{"stream_id":"\#(id)","signing_alg":"ES256"}"#)
            #expect(part.text("signing_alg") == "ES256" && part.text("description") == "one")
            let replaced = try await bench.proven(
                "PUT \(Self.streams)", body: #"{"stream_id":"\#(id)","subject_format":"complex"}"#)
            #expect(replaced.text("signing_alg") == "RS256" && replaced.text("subject_format") == "complex")
            #expect(replaced.text("description") == nil && replaced["events_requested"] == nil)
            for wrong in [#""iss":"https://x""#, #""aud":[]"#, #""events_delivered":[]"#] {
                let reply = try await bench.proven(
                    "PATCH \(Self.streams)", body: #"{"stream_id":"\#(id)",\#(wrong)}"#)
                #expect(reply.status == 400 && reply.text("error") == "invalid_request", "\(wrong)")
            }
        }
    }

    @Test("set a push address by a fresh proof, and pause a stream without one until an operator approves it")
    func approval() async throws {
        try await RouterBench.run { bench in
            let body = "{\(Self.push)}"
            let waiting = try await bench.stream(body)
            let id = try #require(waiting.text("stream_id"))
            let status = try await bench.provider("GET /ssf/status?stream_id=\(id)")
            #expect(status.text("status") == "paused" && status.text("reason")?.contains("approval") == true)
            let asked = try await bench.proven(
                "POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"enabled"}"#)
            #expect(asked.status == 202 && asked.text("status") == "paused")
            let stream = try #require(EventStreamID(id[...]))
            let admin = bench.fixture.admin
            await #expect(throws: Refusal(.conflict, "")) {
                try await admin.approveEventStream(stream, url: "https://other.invalid/")
            }
            _ = try await admin.approveEventStream(stream, url: "https://receiver.invalid/events")
            #expect(try await bench.provider("GET /ssf/status?stream_id=\(id)").text("status") == "enabled")
            let proven = try await bench.stream(body, proof: try bench.proof("POST", Self.streams, body))
            let other = try #require(proven.text("stream_id"))
            #expect(try await bench.provider("GET /ssf/status?stream_id=\(other)").text("status") == "enabled")
            // A later proof that is not about the address approves nothing, and one that is approves the new one.
            let later = try await bench.stream(body)
            let third = try #require(later.text("stream_id"))
            let note = #"{"stream_id":"\#(third)","description":"x"}"#
            #expect(try await bench.proven("PATCH \(Self.streams)", body: note).status == 200)
            #expect(try await bench.provider("GET /ssf/status?stream_id=\(third)").text("status") == "paused")
            let moved = #"{"stream_id":"\#(third)",\#(Self.push.replacing("events\"", with: "other\""))}"#
            #expect(try await bench.proven("PATCH \(Self.streams)", body: moved).status == 200)
            #expect(try await bench.provider("GET /ssf/status?stream_id=\(third)").text("status") == "enabled")
            let stale = try await bench.stream(body, proof: try bench.proof("POST", Self.streams, "{}"))
            #expect(stale.status == 401 && stale.code == "provider_token_invalid")
        }
    }

    @Test("are neither redirected nor stopped nor deleted by a token alone, and by a proof beside it or in its place")
    func stolen() async throws {
        try await RouterBench.run { bench in
            _ = try await bench.signIn()
            let body = "{\(Self.push)}"
            let made = try await bench.stream(body, proof: try bench.proof("POST", Self.streams, body))
            let id = try #require(made.text("stream_id"))
            let calls = [
                ("PATCH", Self.streams, #"{"stream_id":"\#(id)","delivery":{"method":"urn:ietf:rfc:8936"}}"#),
                ("PATCH", Self.streams, #"{"stream_id":"\#(id)","events_requested":["urn:none"]}"#),
                ("PUT", Self.streams, #"{"stream_id":"\#(id)"}"#),
                (
                    "POST", "/ssf/subjects/remove",
                    #"{"stream_id":"\#(id)","subject":{"format":"email","email":"alice"}}"#
                ), ("POST", "/ssf/status", #"{"stream_id":"\#(id)","status":"disabled"}"#),
                ("DELETE", "\(Self.streams)?stream_id=\(id)", ""),
            ]
            for bearer in [try await bench.access("ssf.manage"), try bench.bearer()] {
                for (method, path, body) in calls {
                    let reply = try await bench.open(
                        "\(method) \(path)", body: body.isEmpty ? nil : body, bearer: bearer)
                    #expect(reply.status == 401 && reply.code == "provider_token_invalid", "\(method) \(path)")
                    reply.judge()
                }
                let excluded = try await bench.fixture.store.read {
                    try $0.query("SELECT user_id FROM event_stream_exclusions", []).count
                }
                #expect(excluded == 0)
                let now = try await bench.open("GET /ssf/streams?stream_id=\(id)", bearer: bearer)
                #expect(now.body == made.body)
                #expect(
                    try await bench.open("GET /ssf/status?stream_id=\(id)", bearer: bearer).text("status") == "enabled")
            }
            for (method, path, body) in calls {
                let reply = try await bench.proven("\(method) \(path)", body: body.isEmpty ? nil : body)
                #expect((200..<300).contains(reply.status), "\(method) \(path): \(reply.status)")
            }
        }
    }

    @Test("hand over what waits until it is acknowledged, and hold it while the stream is paused")
    func polls() async throws {
        try await RouterBench.run { bench in
            let id = try #require(try await bench.stream("{}").text("stream_id"))
            for name in ["one", "two", "three"] {
                let person = try await bench.signIn(name)
                _ = try await person.send("DELETE /sessions/current")
            }
            func ask(_ body: String) async throws -> (ids: [String], more: Bool) {
                let reply = try await bench.provider("POST /ssf/poll/\(id)", body: body)
                guard case .object(let sets) = reply["sets"] else { return ([], false) }
                return (sets.map(\.name), reply["moreAvailable"] == .bool(true))
            }
            let first = try await ask(#"{"returnImmediately":true,"maxEvents":2}"#)
            #expect(first.ids.count == 2 && first.more)
            let again = try await ask(#"{"returnImmediately":true}"#)
            #expect(again.ids.count == 3 && Array(again.ids.prefix(2)) == first.ids && !again.more)
            let ack = #"{"maxEvents":0,"ack":["\#(again.ids[0])","unknown"]}"#
            #expect(try await ask(ack).ids.isEmpty)
            // Unknown ids are named: an event that ended is known, one of another stream is not.
            let other = UUID().uuidString.lowercased()
            let named = #"{"maxEvents":0,"ack":["\#(again.ids[0])","\#(other)"],"setErrs":{"misspelt":{}}}"#
            let reported = try await bench.provider("POST /ssf/poll/\(id)", body: named)
            #expect(reported["unknownIds"] == .array([.string("misspelt"), .string(other)]))
            let known = #"{"maxEvents":0,"ack":["\#(again.ids[0])"]}"#
            #expect(try await bench.provider("POST /ssf/poll/\(id)", body: known)["unknownIds"] == nil)
            let refused = #"{"returnImmediately":true,"setErrs":{"\#(again.ids[1])":{"err":"invalid_key"}}}"#
            #expect(try await ask(refused).ids == [again.ids[2]])
            let dead = try await bench.fixture.store.read { try OutboxRepository($0).list(.dead, limit: 9) }
            #expect(dead.map(\.reason) == ["the receiver refused the event: invalid_key"])
            _ = try await bench.proven("POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"paused"}"#)
            #expect(try await ask(#"{"returnImmediately":true}"#).ids.isEmpty)
            _ = try await bench.proven("POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"enabled"}"#)
            #expect(try await ask(#"{"returnImmediately":true}"#).ids == [again.ids[2]])
            _ = try await bench.proven("POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"disabled"}"#)
            #expect(try await ask(#"{"returnImmediately":true}"#).ids.isEmpty)
        }
    }

    @Test("accepts back as many events as a poll may return, in the smallest body that a policy permits")
    func acknowledgements() throws {
        let ids = (0..<StrictJSON.maximumCount).map { _ in OutboxMessageID(UUID()).description }
        let list = ids.map { #""\#($0)""# }.joined(separator: ",")
        let errors = ids.map { #""\#($0)":{"err":"x"}"# }.joined(separator: ",")
        for text in [#"{"maxEvents":0,"ack":[\#(list)]}"#, #"{"maxEvents":0,"setErrs":{\#(errors)}}"#] {
            #expect(text.utf8.count <= 16_384)
            var members = try JSONBodyDecoder(Array(text.utf8))
            _ = try EventPoll(&members)
        }
        for text in [#"{"ack":[\#(list),"y"]}"#, #"{"setErrs":{\#(errors),"y":{}}}"#] {
            #expect(throws: Refusal.self) { _ = try JSONBodyDecoder(Array(text.utf8)) }
        }
    }
}

extension RouterBench {
    /// Creates a stream, or changes one.
    func stream(_ body: String, proof: String? = nil, by method: String = "POST") async throws -> Reply {
        var headers: HTTPFields = [.contentType: "application/json", .authorization: "Bearer \(try bearer())"]
        headers[.countersignProof] = proof
        return try await send(
            .public, "\(method) /ssf/streams", headers: headers, body: RequestBody(buffer: ByteBuffer(string: body)))
    }
}
