import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

@Suite("The routes of calls")
struct CallRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    private static let route = "GET /calls/servers"

    private static func proven(_ bench: RouterBench) async throws -> SignedIn {
        let person = try await bench.signIn("ann")
        #expect(try await bench.prove("+14155552671", person).status == 200)
        return person
    }

    static let cases: [RouteCase] = [
        RouteCase(
            route, 200,
            policy: RouterBench.policy { policy in
                policy.calls.stunURLs = ["stun:stun.example:3478"]
                policy.calls.turnURLs = ["turn:turn.example:3478"]
            }
        ) { bench in
            let person = try await proven(bench)
            let reply = try await person.send(route)
            guard case .array(let servers) = reply["ice_servers"], servers.count == 2 else { return reply }
            #expect(servers[0]["urls"] == .array([.string("stun:stun.example:3478")]) && servers[0]["username"] == nil)
            #expect(servers[1]["urls"] == .array([.string("turn:turn.example:3478")]))
            let end = Date(timeIntervalSince1970: bench.fixture.clock.now.timeIntervalSince1970.rounded(.down) + 3600)
            let made = TURNCredentials(for: person.session.userID, until: end, secret: Secret("a secret of sixteen"))
            #expect(servers[1].text("username") == made.username && servers[1].text("credential") == made.password)
            #expect(reply.text("expires_at") == end.rfc3339)
            return reply
        },
        RouteCase(route, 200) { bench in
            let reply = try await proven(bench).send(route)
            #expect(reply["ice_servers"] == .array([]) && reply["expires_at"] == .null)
            return reply
        },
        RouteCase(route, 403, .notVerified, reason: "caller") { bench in try await bench.signIn().send(route) },
        RouteCase(
            route, 429, .rateLimited, policy: RouterBench.policy { $0.calls.credentialsPerHour = 1 }
        ) { bench in
            let person = try await proven(bench)
            #expect(try await person.send(route).status == 200)
            return try await person.send(route)
        },
    ]
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String? { self[name]?.text }
}
