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

@Suite("The routes of identity cards")
struct CardRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    /// A user whose number is proven.
    private static func proven(_ bench: RouterBench, _ user: String = "alice", _ last: Int = 2671) async throws
        -> SignedIn
    {
        let person = try await bench.signIn(user)
        _ = try await bench.prove("+1415555\(last)", person)
        return person
    }

    static let cases: [RouteCase] = [
        RouteCase("POST /identity-cards", 201) { bench in
            let reply = try await proven(bench).send("POST /identity-cards", json: try RouterBench.card())
            #expect(reply.text("status") == "verified" && reply.text("assurance") == "barcode")
            #expect(reply.text("issuer_signature") == "none")
            #expect(reply["card"]?["document_number"]?.text == "5789" && reply["card"]?["jurisdiction"]?.text == "VA")
            return reply
        },
        RouteCase("POST /identity-cards", 400, .malformedRequest) { bench in
            try await proven(bench).send("POST /identity-cards", json: #"{"aamva":"eA==","mrz":"x"}"#)
        },
        RouteCase("POST /identity-cards", 409, .conflict) { bench in
            let reply = try await bench.signIn().send("POST /identity-cards", json: try RouterBench.card())
            #expect(reply.text("state") == "none")
            return reply
        },
        RouteCase("POST /identity-cards", 422, .cardRejected) { bench in
            let reply = try await proven(bench).send(
                "POST /identity-cards", json: try RouterBench.card { $0.expiry = CardSpecimen.day(2024, 12, 10) })
            guard case .array(let checks) = reply["checks"] else { return reply }
            #expect(checks.contains { $0["name"]?.text == "unexpired" && $0["result"]?.text == "failed" }, "\(checks)")
            return reply
        },
        RouteCase("POST /identity-cards", 403, .userBanned) { bench in
            try await bench.ban(try BanTarget.document(reading: "VA:T64225789"))
            return try await proven(bench).send("POST /identity-cards", json: try RouterBench.card())
        },
        RouteCase("POST /identity-cards", 429, .rateLimited, policy: RouterBench.policy { $0.cards.submissions = 1 }) {
            bench in
            let person = try await proven(bench)
            _ = try await person.send("POST /identity-cards", json: try RouterBench.card())
            return try await person.send("POST /identity-cards", json: try RouterBench.card())
        },
        RouteCase("GET /identity-cards/{id}", 200) { bench in
            let person = try await proven(bench)
            let shown = try await person.send("POST /identity-cards", json: try RouterBench.card())
            let reply = try await person.send("GET /identity-cards/\(try #require(shown.text("id")))")
            #expect(reply.body == shown.body)
            return reply
        },
        RouteCase("GET /identity-cards/{id}", 404, .notFound) { bench in
            try await bench.signIn().send("GET /identity-cards/\(UUID().uuidString.lowercased())")
        },
    ]
}
