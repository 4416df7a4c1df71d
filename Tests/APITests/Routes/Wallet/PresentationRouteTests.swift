import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing

@testable import API

@Suite("The routes of presentations")
struct PresentationRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let path = "/identity-cards/presentations"

    private static func begin(
        _ wanted: Presentation.Wanted, _ bench: RouterBench
    ) async throws -> BegunPresentation {
        try await bench.addOrigin()
        let person = try await bench.signIn()
        if wanted == .identity { try await bench.prove("+14155552671", person) }
        return try await BegunPresentation(wanted, person)
    }

    private static func one(
        _ route: String, _ status: Int, _ code: Refusal.Code? = nil, reason: String? = nil,
        _ call: @escaping @Sendable (RouterBench) async throws -> Reply
    ) -> RouteCase {
        RouteCase(route, status, code, reason: reason, policy: RouterBench.wallets, call)
    }

    static let cases: [RouteCase] = [
        one("POST \(path)", 201) { bench in
            try await bench.addOrigin()
            let reply = try await bench.signIn().send("POST \(path)", json: RouterBench.opening(.over18))
            guard case .array(let requests)? = reply["requests"] else { return reply }
            #expect(requests.map { $0["protocol"]?.text } == ["openid4vp-v1-signed", "org-iso-mdoc"])
            return reply
        },
        one("POST \(path)", 400, .malformedRequest) { bench in
            try await bench.signIn().send("POST \(path)", json: RouterBench.opening(.over18))
        },
        one("POST \(path)", 409, .conflict) { bench in
            try await bench.addOrigin()
            let reply = try await bench.signIn().send("POST \(path)", json: RouterBench.opening(.identity))
            #expect(reply.text("state") == "none")
            return reply
        },
        RouteCase("POST \(path)", 404, .notFound) { bench in
            try await bench.signIn().send("POST \(path)", json: RouterBench.opening(.over18))
        },
        one("POST \(path)/{id}", 201) { bench in
            let reply = try await begin(.over18, bench).answer(.over18)
            #expect(reply["age_over_18"] == .bool(true))
            return reply
        },
        one("POST \(path)/{id}", 201) { bench in
            let reply = try await begin(.identity, bench).answer(.identity)
            #expect(reply.text("assurance") == "credential" && reply["card"]?["jurisdiction"]?.text == "VA")
            return reply
        },
        one("POST \(path)/{id}", 400, .malformedRequest) { bench in
            let begun = try await begin(.over18, bench)
            return try await begun.person.send(
                "POST \(path)/\(begun.id)", json: #"{"protocol":"openid4vp","data":{"response":"x"}}"#)
        },
        one("POST \(path)/{id}", 409, .conflict) { bench in
            let begun = try await begin(.over18, bench)
            _ = try await begun.answer(.over18)
            let reply = try await begun.answer(.over18)
            #expect(reply.text("state") == "answered")
            return reply
        },
        one("POST \(path)/{id}", 403, .userBanned) { bench in
            try await bench.ban(try BanTarget.document(reading: "VA:T64235789"))
            return try await begin(.identity, bench).answer(.identity)
        },
        one("POST \(path)/{id}", 422, .presentationRejected, reason: "incomplete") { bench in
            try await begin(.over18, bench).answer(.identity)
        },
        one("GET \(path)/{id}", 200) { bench in
            let begun = try await begin(.over18, bench)
            _ = try await begun.answer(.over18)
            let reply = try await begun.person.send("GET \(path)/\(begun.id)")
            #expect(reply.text("state") == "accepted" && reply["reason"] == .null)
            return reply
        },
        one("GET \(path)/{id}", 404, .notFound) { bench in
            try await bench.signIn().send("GET \(path)/\(UUID().uuidString.lowercased())")
        },
        one("DELETE \(path)/{id}", 204) { bench in
            let begun = try await begin(.over18, bench)
            return try await begun.person.send("DELETE \(path)/\(begun.id)")
        },
        one("DELETE \(path)/{id}", 404, .notFound) { bench in
            try await bench.signIn().send("DELETE \(path)/\(UUID().uuidString.lowercased())")
        },
    ]
}
