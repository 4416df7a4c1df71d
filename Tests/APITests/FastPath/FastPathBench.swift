import Domain
import Fixtures
import Operations
import Testing

@testable import API

/// A signed-in device, and a listener that answers some of its requests ahead of the routes.
struct FastPathBench {
    let fixture: ServiceFixture
    let way: AnswerWay
    let connection: ClientConnection
    /// A request that is answered ahead of the routes.
    let usual: WireRequest
    static let nonce = WireRequest(method: "POST", target: "/nonces")
    static let missing = WireRequest(target: "/nowhere")

    static func run(_ body: (FastPathBench) async throws -> Void) async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            try await body(
                FastPathBench(
                    fixture: fixture, way: AnswerWay(fixture, usesFastPath: true), connection: connection,
                    usual: WireRequest(fields: [("Authorization", "Layer session-token=\"\(token)\"")])))
        }
    }

    func open(isHTTP2: Bool = false) async throws -> Wire { try await way.open(connection, isHTTP2: isHTTP2) }

    func openStreams(takesBodies: Bool = true) async throws -> Wire {
        try await way.open(connection, isHTTP2: true, takesBodies: takesBodies)
    }

    var answerTimeout: Double { fixture.policy[\.requests].answerTimeout }
}
