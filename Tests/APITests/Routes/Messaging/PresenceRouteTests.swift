import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

@Suite("The routes of presence")
struct PresenceRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let route = "GET /presence"

    private static func refused(_ query: String) -> RouteCase {
        RouteCase(route, 400, .malformedRequest) { bench in try await bench.signIn().send(route + query) }
    }

    private static func ids(_ count: Int) -> String {
        (0..<count).map { _ in UUID().uuidString.lowercased() }.joined(separator: ",")
    }

    static let cases: [RouteCase] = [
        RouteCase(route, 200) { bench in
            let (ann, bob) = (try await bench.verified("ann", 1), try await bench.verified("bob", 2))
            let id = try await bench.askPermission(ann, bob)
            #expect(try await bob.send("POST /authorizations/\(id)/approval").status == 200)
            let (user, stranger) = (bob.session.userID, UUID().uuidString.lowercased())
            let reply = try await ann.send("\(route)?users=\(user),\(stranger),\(user)")
            guard case .array(let found) = reply["presence"] else { return reply }
            #expect(found.map { $0["user_id"]?.text } == ["\(user)", stranger])
            #expect(found.allSatisfy { $0["online"] == .bool(false) && $0["last_seen"] == .null })
            let sync = try await ann.send("GET /sync?anchor=latest&presence=\(user)")
            #expect(sync["presence"] == .array([found[0]]))
            return reply
        },
        RouteCase(route, 200) { bench in
            let reply = try await bench.signIn().send("\(route)?users=\(ids(50))")
            guard case .array(let found) = reply["presence"] else { return reply }
            #expect(found.count == 50)
            return reply
        },
        refused(""), refused("?users="), refused("?users=x"), refused("?users=\(ids(51))"),
        refused("?users=\(ids(2)),"),
        RouteCase("GET /sync", 400, .malformedRequest) { bench in
            try await bench.signIn().send("GET /sync?presence=\(ids(51))")
        },
        RouteCase(
            route, 429, .rateLimited, policy: RouterBench.policy { $0.streams.readsPerMinute = 1 }
        ) { bench in
            let person = try await bench.signIn()
            #expect(try await person.send("\(route)?users=\(ids(1))").status == 200)
            return try await person.send("\(route)?users=\(ids(1))")
        },
    ]
}
