import Domain
import Fixtures
import NIOCore
import NIOEmbedded
import Operations
import Testing

@testable import API

/// Every route that waits for something to happen: nobody waits for a client that is gone.
@Suite("A route that waits", .timeLimit(.minutes(10)))
struct WaitingRouteTests {
    typealias Route = ResponseWorld.Route

    /// The routes that wait, and what makes them wait.
    static let routes = [
        Route("GET /sync", query: "anchor={anchor}&wait=3600"), Route("POST /ssf/poll/{stream_id}", on: .public),
    ]

    /// How a client goes away.
    private enum Departure: CaseIterable { case closed, halfClosed, reset }

    @Test("releases its place at once when its client closes the connection, its half of it, or the stream")
    func abandoned() async throws {
        try await ResponseWorld.run { world in
            let node = world.bench.fixture.context.node
            for route in Self.routes {
                let way = world.way(route, .roomy)
                for isHTTP2 in [false, true] {
                    for departure in Departure.allCases where isHTTP2 == (departure == .reset) || departure == .closed {
                        let what = "\(route.template) \(isHTTP2) \(departure)"
                        // As many as a user or a provider may have: one more would be refused.
                        let wires = try await wait(route, way, world, isHTTP2: isHTTP2)
                        try await until("\(what): nobody waits") { node.waiting == 8 }
                        for wire in wires {
                            switch departure {
                            case .closed: await wire.close()
                            case .halfClosed: try await halfClose(wire)
                            case .reset: try await wire.reset(1)
                            }
                        }
                        try await until("\(what): somebody still waits") { node.waiting == 0 }
                        for wire in wires { await wire.close() }
                    }
                }
            }
        }
    }

    private func wait(
        _ route: Route, _ way: AnswerWay, _ world: ResponseWorld, isHTTP2: Bool
    ) async throws -> [Wire] {
        var wires: [Wire] = []
        for _ in 0..<8 {
            let wire = try await world.open(route, way, isHTTP2: isHTTP2)
            try await wire.send(try world.request(route))
            wires.append(wire)
        }
        return wires
    }

    /// The client says that it sends no more (TLS close_notify, FIN).
    private func halfClose(_ wire: Wire) async throws {
        let channel = wire.channel
        try await channel.testingEventLoop.executeInContext {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }
}
