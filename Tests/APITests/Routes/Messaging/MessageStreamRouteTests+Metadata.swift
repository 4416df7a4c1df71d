import Domain
import Encoding
import Testing

extension MessageStreamRouteTests {
    static let tagging: [RouteCase] = [
        RouteCase("DELETE /streams/{id}/events/{event}/copy", 204) { bench in
            let (pair, stream, message) = try await made("conversation", bench)
            let reply = try await pair.bob.send("DELETE /streams/\(stream)/events/\(message)/copy")
            for (person, isDeleted) in [(pair.ann, false), (pair.bob, true)] {
                let page = try await person.send("GET /streams/\(stream)/events")
                guard case .array(let events) = page["events"] else { return page }
                #expect(events.map { $0["deleted"] } == [.bool(isDeleted)])
            }
            return reply
        },
        on("forum", "DELETE /streams/{id}/events/{event}/copy", 409, .conflict, state: "unsupported"),
        strange("DELETE /streams/{id}/events/{event}/copy"),
        RouteCase("PATCH /streams/{id}/events/{event}/metadata", 200) { bench in
            let (pair, stream, message) = try await made("conversation", bench)
            let call = "PATCH /streams/\(stream)/events/\(message)/metadata"
            let anchor = try #require(try await pair.ann.send("GET /sync?anchor=latest").text("anchor"))
            _ = try await pair.bob.send(call, json: #"{"set":{"a":{"b":1},"c":2}}"#)
            _ = try await pair.ann.send("\(call)/private", json: #"{"set":{"later":true}}"#)
            let reply = try await pair.ann.send(call, json: #"{"merge":{"a":{"d":3},"c":null}}"#)
            let (shared, own) = (
                try StrictJSON.parse(#"{"a":{"b":1,"d":3}}"#.utf8), JSONValue.object(["later": .bool(true)])
            )
            #expect(reply["metadata"] == shared)
            let page = try await pair.ann.send("GET /streams/\(stream)/events")
            guard case .array(let events) = page["events"], let event = events.first else { return page }
            #expect(event["metadata"] == shared && event["private_metadata"] == own)
            let changes = try await pair.ann.send("GET /sync?anchor=\(anchor)")
            guard case .array(let operations) = changes["operations"], let one = operations.first else {
                return changes
            }
            #expect(operations.count == 1 && one["operation"]?.text == "UPDATE_TAGS" && one["stream"] == .null)
            #expect(one["event_id"]?.text == message && one["event"]?["sequence"] == .integer(1))
            #expect(one["event"]?["metadata"] == shared && one["event"]?["private_metadata"] == own)
            return reply
        },
        on("direct", "PATCH /streams/{id}/events/{event}/metadata", 400, .malformedRequest, json: #"{"set":1}"#),
        strange("PATCH /streams/{id}/events/{event}/metadata", json: #"{"set":{}}"#),
        RouteCase("PATCH /streams/{id}/events/{event}/metadata", 409, .conflict) { bench in
            let (pair, stream, message) = try await made("direct", bench)
            _ = try await pair.bob.send("PUT /blocks/\(pair.ann.session.userID)")
            return try await pair.ann.send("PATCH /streams/\(stream)/events/\(message)/metadata", json: #"{"set":{}}"#)
        },
        RouteCase("PATCH /streams/{id}/events/{event}/metadata/private", 200) { bench in
            let (pair, stream, message) = try await made("conversation", bench)
            let reply = try await pair.bob.send(
                "PATCH /streams/\(stream)/events/\(message)/metadata/private", json: #"{"merge":{"later":true}}"#)
            #expect(reply["private_metadata"]?["later"] == .bool(true))
            return reply
        },
        on(
            "forum", "PATCH /streams/{id}/events/{event}/metadata/private", 409, .conflict, json: #"{"set":{}}"#,
            state: "unsupported"),
    ]
}
