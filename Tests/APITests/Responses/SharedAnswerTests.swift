import Domain
import Fixtures
import HTTPTypes
import NIOEmbedded
import Testing

@testable import API

@Suite("An answer that is the same for everybody")
struct SharedAnswerTests {
    @Test("is a buffer that nobody claims, on every free route that reads")
    func routes() async throws {
        try await RouterBench.run { bench in
            // Nothing more can be claimed, whatever its size.
            let accounts = ResponseAccounts(.limits(total: 1), unclaimed: 0)
            let channel = NIOAsyncTestingChannel()
            let full = accounts.claim(1, for: .init(connection: ObjectIdentifier(channel)))
            var count = 0
            for (route, cost) in bench.directory.costs(on: .public) where cost == .free && route.hasPrefix("GET ") {
                for type in ["text/html", "application/json"] {
                    let call = route.replacing("{code}", with: "not_found")
                    let reply = try await bench.send(.public, call, headers: [.accept: type], accounts: accounts)
                    #expect(reply.status == 200 && !reply.body.isEmpty, "\(route)")
                    count += 1
                }
            }
            #expect(count >= 18 && accounts.claimed == 1)
            let own = try await bench.send(.ops, "GET /metrics", accounts: accounts)
            #expect(own.status == 503, "an answer of its own is claimed")
            full.end()
        }
    }

    @Test("is built once for each page and form")
    func pages() async throws {
        try await RouterBench.run { bench in
            for path in ["/problems", "/problems/not_found"] {
                var bodies: [[UInt8]] = []
                for type in ["text/html", "application/json", "text/html", "application/json"] {
                    bodies.append(try await bench.send(.public, "GET \(path)", headers: [.accept: type]).body)
                }
                #expect(bodies[0] == bodies[2] && bodies[1] == bodies[3] && bodies[0] != bodies[1], "\(path)")
            }
        }
    }
}
