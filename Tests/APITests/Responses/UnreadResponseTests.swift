import Domain
import NIOCore
import NIOEmbedded
import Testing

@testable import API

/// Every route whose response may be large: its bytes are claimed before they are made, and until they were read.
@Suite("A response that is not read", .timeLimit(.minutes(10)))
struct UnreadResponseTests {
    typealias Route = ResponseWorld.Route

    /// The routes that claim their response before they make it.
    static let routes = [
        Route("GET /streams/{id}/events"), Route("GET /streams"), Route("GET /streams/{id}"),
        Route("GET /authorizations"), Route("GET /me/export"),
        Route("GET /contact-discovery/entries", query: "week=0&bucket=0&bits=0"),
        Route("GET /ssf/streams", on: .public), Route("POST /ssf/poll/{stream_id}", on: .public),
    ]

    @Test("waits for its connection's turn before it is made, and gives the turn up with the connection")
    func turn() async throws {
        try await ResponseWorld.run(hasEvent: true) { world in
            for route in Self.routes {
                for isHTTP2 in [false, true] {
                    // What is made already claims nothing here.
                    let accounts = ResponseAccounts.strict(unclaimed: .max)
                    let wire = try await world.open(route, world.way(route, accounts), isHTTP2: isHTTP2)
                    let other = accounts.claim(
                        5, for: .init(connection: ObjectIdentifier(wire.channel)))
                    try await wire.send(try world.request(route))
                    try await until("\(route.template) does not wait") { accounts.waiting == 1 }
                    await wire.close()
                    try await until("\(route.template) still waits") { accounts.waiting == 0 }
                    other.end()
                    try await until("\(route.template) still holds something") { accounts.claimed == 0 }
                }
            }
        }
    }

    /// What becomes of a response.
    private enum End: CaseIterable { case read, closed, reset }

    @Test("is claimed while it is unread, and not after it was read, reset or lost with its connection")
    func ends() async throws {
        try await ResponseWorld.run(hasEvent: true) { world in
            // This one ends with a problem, which nobody claims.
            for route in Self.routes where !route.template.contains("contact-discovery") {
                for isHTTP2 in [false, true] {
                    for end in End.allCases where isHTTP2 || end != .reset {
                        let what = "\(route.template) \(isHTTP2) \(end)"
                        let accounts = ResponseAccounts.strict(unclaimed: 0)
                        let wire = try await world.open(
                            route, world.way(route, accounts), isHTTP2: isHTTP2, takesBodies: false)
                        // Over HTTP/2 the windows are shut.
                        let unread = Unread()
                        if !isHTTP2 { try await wire.channel.pipeline.addHandler(unread, position: .first).get() }
                        // Two of a connection: the second waits.
                        for _ in 0..<2 { try await wire.send(try world.request(route)) }
                        try await until("\(what): the second does not wait") { accounts.waiting == 1 }
                        #expect(accounts.claimed > 0, "\(what)")
                        switch end {
                        case .read where isHTTP2:
                            for stream in [1, 3] as [UInt32] { try await wire.takeBody(stream) }
                        case .read: try await wire.channel.testingEventLoop.executeInContext { unread.read() }
                        case .closed: await wire.close()
                        case .reset: for stream in [1, 3] as [UInt32] { try await wire.reset(stream) }
                        }
                        try await until("\(what): still claimed") { accounts.claimed == 0 && accounts.waiting == 0 }
                        await wire.close()
                    }
                }
            }
        }
    }

    @Test("that is a problem instead claims nothing, and lets the next one go on")
    func refused() async throws {
        try await ResponseWorld.run(hasEvent: true) { world in
            let accounts = ResponseAccounts.strict(unclaimed: 0)
            let route = Route("GET /contact-discovery/entries", query: "week=0&bucket=0&bits=0")
            let way = world.way(route, accounts)
            for isHTTP2 in [false, true] {
                let wire = try await world.open(route, way, isHTTP2: isHTTP2)
                for _ in 0..<2 {
                    let answer = String(decoding: try await wire.exchange(try world.request(route)), as: UTF8.self)
                    #expect(answer.contains("not_found"), "\(answer)")
                }
                #expect(accounts.claimed == 0 && accounts.waiting == 0)
                await wire.close()
            }
        }
    }
}
