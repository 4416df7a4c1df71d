import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Herald
import Hummingbird
import NIOCore
import NIOEmbedded
import Operations
import Testing

@testable import API

/// Every route of every listener, and every call of Herald, called more often than a low limit permits.
@Suite("The cost of a call")
struct CallCostTests {
    /// One call of each cost in a minute, and no other limit in the way.
    private static let policy = RouterBench.policy { policy in
        (policy.requests.readsPerMinute, policy.requests.writesPerMinute) = (1, 1)
        (policy.requests.heavyPerMinute, policy.requests.providerFactor) = (1, 1)
        policy.certification.perHourPerSender.perAddress = 1000
        policy.sessions.idleLifetime = 86_400
    }

    /// Nobody has a session where they are called.
    private static let withoutSession: Set = [
        "POST /certificates/renewal", "DELETE /certificates/current", "POST /token", "POST /sessions",
        "POST /sessions/resume", "POST /sessions/renew", "DELETE /sessions/current",
    ]

    /// Routes of the public listener that prove nobody.
    private static let ofAddresses: Set = [
        "POST /certificates", "GET /wallet/requests/{request}", "POST /wallet/requests/{request}",
        "POST /wallet/responses/{request}",
    ]

    private static func call(_ route: String) -> String {
        route.split(separator: "/", omittingEmptySubsequences: false).map { $0.hasPrefix("{") ? "x" : $0 }
            .joined(separator: "/")
    }

    private static func isRefused(_ reply: Reply, _ route: String) {
        #expect(reply.status == 429 && reply.code == "rate_limited", "\(route): \(reply.status)")
        #expect(reply.headers[.retryAfter] == "60", "\(route)")
        reply.judge()
    }

    @Test("is declared for every route, and no route is added in another way")
    func declared() async throws {
        try await RouterBench.run { bench in
            for (listener, routes) in bench.routes {
                #expect(Set(bench.directory.costs(on: listener).keys) == Set(routes))
                #expect(routes.count >= 3)
            }
            #expect(Set(bench.directory.costs(on: .ops).values) == [.free])
        }
    }

    @Test("is limited for the certificate on every route of the client listener, and in a session for the user")
    func clients() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn()
            for (route, cost) in bench.directory.costs(on: .client).sorted(by: { $0.key < $1.key }) where cost != .free
            {
                bench.fixture.clock.advance(61)
                let device = CountedCaller.certificate(person.connection.thumbprint)
                try bench.fixture.context.count(cost, by: device)
                Self.isRefused(try await person.send(Self.call(route)), route)
                let other = try await bench.signIn(UUID().uuidString)
                let first = try await other.send(Self.call(route))
                #expect(first.status != 429, "\(route)")
                #expect(throws: Refusal(.rateLimited, ""), "\(route)") {
                    try bench.fixture.context.count(cost, by: .certificate(other.connection.thumbprint))
                }
                guard !Self.withoutSession.contains(route) else { continue }
                #expect(throws: Refusal(.rateLimited, ""), "\(route)") {
                    try bench.fixture.context.count(cost, by: .user(other.session.userID))
                }
                // Of another device of the user.
                bench.fixture.clock.advance(61)
                try bench.fixture.context.count(cost, by: .user(person.session.userID))
                Self.isRefused(try await person.send(Self.call(route)), route)
            }
        }
    }

    @Test("is limited for the device before its session is looked at")
    func strangers() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn()
            func guess() async throws -> Reply {
                try await bench.client(
                    "GET /me", authorization: "Layer session-token=\"guessed\"", on: person.connection)
            }
            #expect(try await guess().status == 401)
            Self.isRefused(try await guess(), "GET /me")
        }
    }

    /// A call of a route that proves the provider.
    private static func prove(_ route: String, _ bench: RouterBench) async throws -> Reply {
        let call = call(route)
        switch route {
        case "POST /provider/keys", "PUT /provider/webhook": return try await bench.proven(call, body: "{}")
        case "DELETE /provider/keys/{key_id}", "DELETE /provider/webhook": return try await bench.proven(call)
        case "POST /token": return try await bench.taken(try bench.assertion())
        case "POST /introspect", "POST /revoke":
            return try await bench.provider(call, body: "token=x", type: RouterBench.form)
        case "POST /provider/events":
            let event = try WebhookRouteTests.logout("alice", bench)
            return try await bench.open(call, body: event, type: WebhookRouteTests.event)
        default: return try await bench.provider(call, body: "{}")
        }
    }

    @Test("is limited for the provider on every route of the public listener that proves one")
    func providers() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let provider = CountedCaller.provider(bench.fixture.registration.provider.id)
            for (route, cost) in bench.directory.costs(on: .public) where cost != .free {
                guard !Self.ofAddresses.contains(route) else { continue }
                bench.fixture.clock.advance(61)
                try bench.fixture.context.count(cost, by: provider)
                Self.isRefused(try await Self.prove(route, bench), route)
                bench.fixture.clock.advance(61)
                #expect(try await Self.prove(route, bench).status != 429, "\(route)")
                #expect(throws: Refusal(.rateLimited, ""), "\(route)") {
                    try bench.fixture.context.count(cost, by: provider)
                }
            }
        }
    }

    @Test("is counted once where a call shows two tokens")
    func once() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let body = #"{"url":"https://example.com/events"}"#
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.authorization] = "Bearer \(try bench.bearer())"
            headers[.countersignProof] = try bench.proof("PUT", "/provider/webhook", body)
            let reply = try await bench.send(
                .public, "PUT /provider/webhook", headers: headers,
                body: RequestBody(buffer: ByteBuffer(string: body)))
            #expect(reply.status == 200)
        }
    }

    @Test("is limited for the address where nobody is proven")
    func addresses() async throws {
        try await RouterBench.run(Self.policy) { bench in
            for route in Self.ofAddresses {
                bench.fixture.clock.advance(61)
                let call = Self.call(route)
                let first = try await bench.open(call, body: "{}")
                #expect(first.status != 429, "\(route)")
                Self.isRefused(try await bench.open(call, body: "{}"), route)
                let other = try await bench.open(call, body: "{}", from: "192.0.2.2")
                #expect(other.status == first.status, "\(route)")
                // Two of a /56 and eight of a /48, because each address may make one call.
                var statuses: [Int] = []
                for network in ["00", "01", "02", "100", "200", "300", "400", "500", "600", "700"] {
                    statuses.append(try await bench.open(call, body: "{}", from: "2001:db8:1:\(network)::1").status)
                }
                #expect(
                    statuses.map { $0 == 429 } == [false, false, true] + .init(repeating: false, count: 6) + [true])
            }
        }
    }

    @Test("is nothing where a call is free, however often it is made")
    func free() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn()
            for (listener, _) in bench.routes {
                for (route, _) in bench.directory.costs(on: listener).filter({ $0.value == .free }) {
                    for _ in 0..<3 {
                        let reply = try await bench.send(
                            listener, Self.call(route), on: listener == .client ? person.connection : nil)
                        #expect(reply.status != 429, "\(route)")
                    }
                }
            }
        }
    }

    @Test("is the route's for every call of Herald, which says when to come again")
    func herald() async throws {
        try await RouterBench.run(Self.policy) { bench in
            let person = try await bench.signIn()
            // Both name their parameters as they like.
            func unnamed(_ route: String) -> String { route.replacing(/\{\w+\}/, with: "{}") }
            let interface = ThriftInterface.herald
            let costs = Dictionary(
                uniqueKeysWithValues: bench.directory.costs(on: .client).map { (unnamed($0), $1) })
            let respond = bench.respondToClient
            let calls = HeraldCalls { try await respond($0, $1) }
            for function in interface.functions.values {
                let route = String(function.route.prefix { $0 != "?" })
                let cost = try #require(costs[unnamed(route)], "\(function.name)")
                #expect(cost != .free, "\(function.name)")
                bench.fixture.clock.advance(61)
                try bench.fixture.context.count(cost, by: .user(person.session.userID))
                let arguments = function.arguments.compactMap { field in
                    interface.value(.string("x"), as: field.kind).map { ThriftField(field.id, $0) }
                }
                let message = ThriftMessage(.call, name: function.name, sequence: 1, body: arguments)
                let outcome = await CurrentConnection.$current.withValue(CurrentConnection(value: person.connection)) {
                    await calls.answer(
                        message.bytes, token: person.token, on: NIOAsyncTestingChannel(), logger: bench.logger)
                }
                guard case .answer(let bytes) = outcome else {
                    Issue.record("\(function.name) was not answered")
                    continue
                }
                let (reply, refusal) = (try ThriftReader.message(bytes), try #require(function.refusal))
                let found = interface.members(reply.body, as: [refusal]).first?.value
                #expect(found?["status"] == .integer(429), "\(function.name): \(found?.jsonText ?? "")")
                #expect(found?["retry_after"] == .integer(60), "\(function.name)")
            }
        }
    }
}
