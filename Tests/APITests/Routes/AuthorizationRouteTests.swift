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

@Suite("The routes of authorizations and blocks")
struct AuthorizationRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static func pair(_ bench: RouterBench) async throws -> (ann: SignedIn, bob: SignedIn) {
        (try await bench.verified("ann", 1), try await bench.verified("bob", 2))
    }

    private static func ask(_ from: SignedIn, _ to: String, id: String = UUID().uuidString) async throws -> Reply {
        try await from.send("POST /authorizations", json: #"{"id":"\#(id)","to":"\#(to)"}"#)
    }

    /// The answers to an open request: by whom, and what becomes of it.
    private static func answering(_ word: String, byRecipient: Bool, _ state: String) -> [RouteCase] {
        let route = "POST /authorizations/{id}/\(word)"
        return [
            RouteCase(route, 200) { bench in
                let (ann, bob) = try await pair(bench)
                let id = try await bench.askPermission(ann, bob)
                let reply = try await (byRecipient ? bob : ann).send("POST /authorizations/\(id)/\(word)")
                #expect(reply.text("state") == state && reply.text("id") == id)
                #expect(reply["partner"]?["address"]?.text == (state == "APPROVAL" ? "test/ann" : nil))
                return reply
            },
            RouteCase(route, 404, .notFound) { bench in
                try await bench.verified("ann", 1).send(
                    "POST /authorizations/\(UUID().uuidString.lowercased())/\(word)")
            },
            RouteCase(route, 409, .conflict) { bench in
                let (ann, bob) = try await pair(bench)
                let id = try await bench.askPermission(ann, bob)
                let before = word == "rejection" ? "approval" : "rejection"
                let changed = try await bob.send("POST /authorizations/\(id)/\(before)")
                let reply = try await (byRecipient ? bob : ann).send("POST /authorizations/\(id)/\(word)")
                #expect(reply["state"] == changed["state"])
                return reply
            },
            RouteCase(route, 410, .gone) { bench in
                let (ann, bob) = try await pair(bench)
                let id = try await bench.askPermission(ann, bob)
                bench.fixture.clock.advance(14 * 86_400 + 1)
                try await bench.fixture.watch.poll()
                let person = byRecipient ? bob : ann
                let again = try await bench.fixture.opened(person.user, on: person.connection)
                return try await bench.client(
                    "POST /authorizations/\(id)/\(word)",
                    authorization: "Layer session-token=\"\(try #require(again.token).text.reveal())\"",
                    on: person.connection)
            },
        ]
    }

    static let cases = [
        asking, blocking, answering("approval", byRecipient: true, "APPROVAL"),
        answering("rejection", byRecipient: true, "REJECTED"),
        answering("cancellation", byRecipient: false, "CANCELLED"),
    ].flatMap(\.self)

    private static let asking: [RouteCase] = [
        RouteCase("POST /authorizations", 201) { bench in
            let (ann, bob) = try await pair(bench)
            let id = UUID().uuidString.lowercased()
            let first = try await ask(ann, "test/bob", id: id)
            let second = try await ask(ann, "test/bob", id: id)
            #expect(first.body == second.body && first.text("id") == id && bob.user == "bob")
            return second
        },
        RouteCase("POST /authorizations", 400, .malformedRequest) { bench in
            try await ask(try await bench.verified("ann", 1), "test/bob", id: "1")
        },
        RouteCase("POST /authorizations", 403, .notVerified) { bench in
            let reply = try await ask(try await bench.signIn(), "test/bob")
            #expect(reply.text("required_level") == "barcode")
            return reply
        },
        RouteCase("POST /authorizations", 403, .notVerified, reason: "partner") { bench in
            _ = try await bench.signIn("bob")
            return try await ask(try await bench.verified("ann", 1), "test/bob")
        },
        RouteCase("POST /authorizations", 404, .notFound) { bench in
            try await ask(try await bench.verified("ann", 1), "another/bob")
        },
        RouteCase("POST /authorizations", 409, .conflict) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            return try await ask(ann, "test/other", id: id)
        },
        RouteCase(
            "POST /authorizations", 429, .rateLimited,
            policy: RouterBench.policy { $0.authorizations.requestsPerDay = 1 }
        ) {
            bench in
            let (ann, bob) = try await pair(bench)
            let carol = try await bench.verified("carol", 3)
            _ = try await bench.askPermission(ann, bob)
            return try await ask(ann, carol.session.userID.description)
        },
        RouteCase("GET /authorizations", 200) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            let reply = try await bob.send("GET /authorizations?box=in")
            guard case .array(let rows) = reply["authorizations"] else { return reply }
            #expect(rows.count == 1 && rows[0]["id"]?.text == id && rows[0]["box"]?.text == "in")
            #expect(rows[0]["partner"]?["user_id"] == .null && rows[0]["partner"]?["address"] == .null)
            let block = try #require(rows[0]["block"]?.text)
            #expect(try await bob.send("POST \(block)").status == 204)
            return reply
        },
        RouteCase("GET /authorizations", 400, .malformedRequest) { bench in
            try await bench.verified("ann", 1).send("GET /authorizations?box=lost")
        },
        RouteCase("GET /authorizations/{id}", 200) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            let reply = try await ann.send("GET /authorizations/\(id)")
            #expect(reply.text("id") == id && reply.text("box") == "out" && reply["block"] == .null)
            return reply
        },
        RouteCase("GET /authorizations/{id}", 404, .notFound) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            return try await bench.verified("carol", 3).send("GET /authorizations/\(id)")
        },
    ]

    private static let blocking: [RouteCase] = [
        RouteCase("POST /authorizations/{id}/block", 204) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            let first = try await bob.send("POST /authorizations/\(id)/block")
            #expect(first.status == 204)
            #expect(try await bob.send("GET /authorizations/\(id)").status == 404)
            #expect(try await ann.send("GET /authorizations/\(id)").text("state") == "REQUEST")
            return try await bob.send("POST /authorizations/\(id)/block")
        },
        RouteCase("POST /authorizations/{id}/block", 404, .notFound) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            return try await ann.send("POST /authorizations/\(id)/block")
        },
        RouteCase(
            "POST /authorizations/{id}/block", 409, .conflict,
            policy: RouterBench.policy { $0.authorizations.blocksPerUser = 1 }
        ) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            let carol = try await bench.signIn("carol")
            _ = try await bob.send("PUT /blocks/\(carol.session.userID)")
            return try await bob.send("POST /authorizations/\(id)/block")
        },
        RouteCase("DELETE /authorizations/{id}/block", 204) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            _ = try await bob.send("POST /authorizations/\(id)/block")
            let reply = try await bob.send("DELETE /authorizations/\(id)/block")
            _ = try await ann.send("POST /authorizations/\(id)/cancellation")
            let again = try await bench.askPermission(ann, bob)
            #expect(try await bob.send("GET /authorizations/\(again)").status == 200)
            return reply
        },
        RouteCase("DELETE /authorizations/{id}/block", 404, .notFound) { bench in
            try await bench.signIn().send("DELETE /authorizations/x/block")
        },
        RouteCase("PUT /blocks/{id}", 204) { bench in
            let (ann, bob) = try await pair(bench)
            let id = try await bench.askPermission(ann, bob)
            let reply = try await bob.send("PUT /blocks/\(ann.session.userID)")
            #expect(try await bob.send("GET /authorizations/\(id)").status == 404)
            return reply
        },
        RouteCase("PUT /blocks/{id}", 400, .malformedRequest) { bench in
            let ann = try await bench.signIn("ann")
            return try await ann.send("PUT /blocks/\(ann.session.userID)")
        },
        RouteCase(
            "PUT /blocks/{id}", 409, .conflict, policy: RouterBench.policy { $0.authorizations.blocksPerUser = 1 }
        ) { bench in
            let (ann, bob) = (try await bench.signIn("ann"), try await bench.signIn("bob"))
            let carol = try await bench.signIn("carol")
            _ = try await carol.send("PUT /blocks/\(ann.session.userID)")
            return try await carol.send("PUT /blocks/\(bob.session.userID)")
        },
        RouteCase("PUT /blocks/{id}", 404, .notFound) { bench in try await bench.signIn().send("PUT /blocks/x") },
        RouteCase("DELETE /blocks/{id}", 204) { bench in
            let (ann, bob) = (try await bench.signIn("ann"), try await bench.signIn("bob"))
            _ = try await bob.send("PUT /blocks/\(ann.session.userID)")
            return try await bob.send("DELETE /blocks/\(ann.session.userID)")
        },
        RouteCase("DELETE /blocks/{id}", 404, .notFound) { bench in
            try await bench.signIn().send("DELETE /blocks/x")
        },
    ]
}
