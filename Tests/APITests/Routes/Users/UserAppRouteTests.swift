import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

@Suite("The routes of the user's apps")
struct UserAppRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    /// The path of another app of the provider.
    private static func second(_ bench: RouterBench) async throws -> String {
        // The list is in the order of registration.
        bench.fixture.clock.advance(1)
        let app = try await bench.fixture.admin.addApplication("Second", to: "test")
        try await bench.fixture.watch.poll()
        return "/me/apps/\(app.id)"
    }

    static let cases: [RouteCase] = [
        RouteCase("GET /me/apps", 200) { bench in
            let person = try await bench.signIn()
            let path = try await second(bench)
            #expect(try await person.send("DELETE \(path)").status == 204)
            let reply = try await person.send("GET /me/apps")
            guard case .array(let rows) = reply["apps"], rows.count == 2 else { return reply }
            #expect(rows[0]["sessions"] == .integer(1) && rows[0]["forbidden_at"] == .null)
            #expect(rows[0]["current"] == .bool(true) && rows[1]["current"] == .bool(false))
            #expect(rows[1]["name"]?.text == "Second" && rows[1]["forbidden_at"]?.text != nil)
            return reply
        },
        RouteCase("PUT /me/apps/{id}", 204) { bench in
            let person = try await bench.signIn()
            return try await person.send("PUT \(try await second(bench))")
        },
        RouteCase("PUT /me/apps/{id}", 404, .notFound) { bench in
            try await bench.signIn().send("PUT /me/apps/x")
        },
        RouteCase("DELETE /me/apps/{id}", 204) { bench in
            let person = try await bench.signIn()
            return try await person.send("DELETE \(try await second(bench))")
        },
        RouteCase("DELETE /me/apps/{id}", 404, .notFound) { bench in
            try await bench.signIn().send("DELETE /me/apps/\(UUID())")
        },
        RouteCase("DELETE /me/apps/{id}", 409, .conflict) { bench in
            let person = try await bench.signIn()
            let reply = try await person.send("DELETE /me/apps/\(person.session.applicationID)")
            #expect(reply.text("state") == "current")
            return reply
        },
    ]
}
