import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

@Suite("The routes of addresses")
struct AddressRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static func proven(_ bench: RouterBench, _ name: String, _ number: Int) async throws -> SignedIn {
        let person = try await bench.signIn(name)
        #expect(try await bench.prove("+1415555\(number)", person).status == 200)
        return person
    }

    private static func find(_ address: String, _ person: SignedIn) async throws -> Reply {
        try await person.send("POST /addresses/resolve", json: #"{"address":"\#(address)"}"#)
    }

    static let cases: [RouteCase] = [
        RouteCase("GET /me/addresses", 200) { bench in
            let ann = try await bench.signIn()
            #expect(try await ann.send("GET /me/addresses")["findable"] == .array([]))
            #expect(try await ann.send("PUT /me/addresses/name").status == 204)
            let reply = try await ann.send("GET /me/addresses")
            guard case .array(let rows) = reply["findable"] else { return reply }
            #expect(rows.count == 1 && rows[0]["type"]?.text == "name" && rows[0]["since"]?.text != nil)
            return reply
        },
        RouteCase("PUT /me/addresses/{type}", 204) { bench in
            try await proven(bench, "ann", 2671).send("PUT /me/addresses/phone")
        },
        RouteCase("PUT /me/addresses/{type}", 404, .notFound) { bench in
            try await bench.signIn().send("PUT /me/addresses/email")
        },
        RouteCase("PUT /me/addresses/{type}", 409, .conflict) { bench in
            let reply = try await bench.signIn().send("PUT /me/addresses/phone")
            #expect(reply.text("state") == "none")
            return reply
        },
        RouteCase(
            "PUT /me/addresses/{type}", 429, .rateLimited,
            policy: RouterBench.policy { $0.addresses.changesPerHour = 1 }
        ) { bench in
            let ann = try await bench.signIn()
            #expect(try await ann.send("PUT /me/addresses/name").status == 204)
            return try await ann.send("PUT /me/addresses/name")
        },
        RouteCase("DELETE /me/addresses/{type}", 204) { bench in
            try await bench.signIn().send("DELETE /me/addresses/phone")
        },
        RouteCase("DELETE /me/addresses/{type}", 404, .notFound) { bench in
            try await bench.signIn().send("DELETE /me/addresses/x")
        },
        RouteCase("POST /addresses/resolve", 200) { bench in
            let (ann, bob) = (try await proven(bench, "ann", 2671), try await proven(bench, "bob", 2672))
            for (type, address) in [("name", "test/ann"), ("phone", "+14155552671")] {
                #expect(try await ann.send("PUT /me/addresses/\(type)").status == 204)
                #expect(try await find(address, bob).text("user_id") == ann.session.userID.description)
            }
            return try await find("+1 (415) 555-2671", bob)
        },
        RouteCase("POST /addresses/resolve", 400, .malformedRequest) { bench in
            try await find("ann", try await bench.signIn())
        },
        RouteCase("POST /addresses/resolve", 403, .notVerified, reason: "caller") { bench in
            try await find("test/ann", try await bench.signIn())
        },
        RouteCase("POST /addresses/resolve", 404, .notFound) { bench in
            let ann = try await proven(bench, "ann", 2671)
            let (hidden, unknown) = (try await find("+14155552671", ann), try await find("+14155550000", ann))
            #expect(hidden.text("detail") == unknown.text("detail") && hidden.status == unknown.status)
            return hidden
        },
        RouteCase(
            "POST /addresses/resolve", 429, .rateLimited,
            policy: RouterBench.policy { $0.addresses.resolvesPerHour = 1 }
        ) { bench in
            let ann = try await proven(bench, "ann", 2671)
            #expect(try await find("test/ann", ann).status == 404)
            return try await find("test/ann", ann)
        },
    ]
}
