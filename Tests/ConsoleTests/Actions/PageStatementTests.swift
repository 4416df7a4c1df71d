import Database
import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Repositories
import Testing

@testable import Console
@testable import Operations

/// Every page, with requests that read as much as it can show.
///
/// The statement that reads the administrator's role counts, alone or joined with others. `BEGIN` and `COMMIT` do not, nor
/// does the certificate, which is looked up in memory.
@Suite("The statements of a page")
struct PageStatementTests {
    private static let most = 3

    /// Pages that need more, and why.
    private static let exceptions: [String: (most: Int, reason: String)] = [
        "/providers/{}/disable": (
            4, "a provider by issuer has more clients, and the sessions of its keys are counted when the keys are known"
        )
    ]

    /// A request to a page.
    private struct Example {
        let path: String
        var segments: [String] = []
        var values: [String: String] = [:]
    }

    private static func statements(_ route: ConsoleRoute, _ example: Example, _ world: ConsoleWorld) async throws -> Int
    {
        let counter = StatementCounter(world.fixture.store)
        _ = try await answer(route, example, world, over: counter)
        let counts = counter.take()
        return counts.statements + counts.reads
    }

    private static func answer(
        _ route: ConsoleRoute, _ example: Example, _ world: ConsoleWorld, over store: any Database
    ) async throws -> ConsoleAnswer {
        let keys = world.fixture.personalKeys
        let administration = Administration(
            store: store, environment: world.fixture.admin.environment, actor: "admin lena",
            administrator: world.administrator, fourEyesOver: 1, reading: .console
        ) { keys }
        let usual = world.request(example.segments, example.values)
        let request = ConsoleRequest(
            segments: usual.segments, values: usual.values, administrator: usual.administrator,
            administration: administration, now: usual.now, operationID: nil, tokens: usual.tokens,
            newOperationID: usual.newOperationID, parts: usual.parts)
        return try await route.answer(request)
    }

    @Test("are at most three, however many rows there are", arguments: StoreKind.shared)
    func budgets(kind: StoreKind) async throws {
        try await ConsoleWorld.run(as: .security, on: kind) { world in
            let examples = try await Self.examples(PageRows(filling: world))
            let routes = ConsoleRoutes.all.filter { $0.kind == .page }
            #expect(Set(examples.map(\.path)) == Set(routes.map(\.path.description)), "each page has an example")
            for example in examples {
                let route = try #require(routes.first { $0.path.description == example.path })
                let count = try await Self.statements(route, example, world)
                let most = Self.exceptions[example.path]?.most ?? Self.most
                #expect(count <= most, "\(example.path) \(example.segments) \(example.values)")
            }
        }
    }

    @Test("that takes too long is a refusal with a sentence, and no page without rows")
    func timeout() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let routes = ConsoleRoutes.all.filter { $0.kind == .page }
            // The policies are the node's own.
            for example in try await Self.examples(PageRows(filling: world)) where example.path != "/policies" {
                let route = try #require(routes.first { $0.path.description == example.path })
                await #expect(throws: Refusal(.unavailable, ""), "\(example.path) \(example.values)") {
                    try await Self.answer(route, example, world, over: LateStore())
                }
            }
        }
    }

    /// Fills an administrator's hour with other persons.
    private static func fill(_ world: ConsoleWorld, _ persons: Int) throws {
        for _ in 0..<persons {
            try world.fixture.context.countLook(
                at: Digest256.of(UUID().uuidString), of: [], by: world.administrator)
        }
    }

    @Test("with the data of a person count the person, and not the view", arguments: [true, false])
    func looks(isKnown: Bool) async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let rows = try await PageRows(filling: world)
            if isKnown {
                let other = try await world.fixture.admin.readUser("test/user1").user.id
                try world.request().look(at: [rows.session.userID, other])
            }
            try Self.fill(world, isKnown ? 58 : 60)
            for route in ConsoleRoutes.all where route.kind == .page && route.isPersonal {
                let path = route.path.description
                for example in try Self.examples(rows) where example.path == path {
                    if !isKnown {
                        await #expect(throws: Refusal(.rateLimited, ""), "\(path) \(example.values)") {
                            try await Self.answer(route, example, world, over: world.fixture.store)
                        }
                    } else if ["/users/", "/sessions/", "/devices/"].contains(where: { path.hasPrefix($0) }) {
                        _ = try await Self.answer(route, example, world, over: world.fixture.store)
                    }
                }
            }
        }
    }

    @Test("have their own parameters, and refuse others before they read anything")
    func parameters() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let (rows, console) = (try await PageRows(filling: world), ServedConsole(world))
            for example in try Self.examples(rows) {
                let route = try #require(
                    ConsoleRoutes.all.first { $0.kind == .page && $0.path.description == example.path })
                #expect(Set(example.values.keys).isSubset(of: route.query), "\(example.path) \(example.values)")
                let path = example.path.replacing("{}", with: "x")
                let other = await console.send(.get, path + "?id=1")
                #expect(other.status == 400 && other.text.contains("has no parameter id"), "\(path): \(other.status)")
            }
        }
    }

    private static func examples(_ rows: PageRows) throws -> [Example] {
        let user = rows.session.userID.description
        let device = rows.session.deviceID.description
        let confirmations = ["end-sessions", "challenge", "export", "erase"].map {
            Example(path: "/users/{}/\($0)", segments: [user])
        }
        let providers = ["", "/disable", "/enable"].map { Example(path: "/providers/{}\($0)", segments: ["test"]) }
        let searches = [
            ["external_id": "user1"], ["external_id": "user1", "provider": "test"], ["user": user],
            ["user": "test/user1"], ["user": String(user.prefix(30))], ["session": rows.session.id.description],
            ["session": String(rows.session.id.description.prefix(30))], ["device": device],
            ["device": String(device.prefix(30))], ["serial": rows.serial], ["serial": String(rows.serial.prefix(12))],
        ]
        return confirmations + providers + searches.map { Example(path: "/search", values: $0) } + [
            Example(path: "/"), Example(path: "/policies"), Example(path: "/nodes"),
            Example(path: "/users/{}", segments: [user]), Example(path: "/users/{}", segments: ["test/user1"]),
            Example(path: "/users/{}", segments: [user], values: ["after": "1800000000000.x.9"]),
            Example(path: "/users/{}", segments: [user], values: ["after": "1800000000000.x.0"]),
            Example(path: "/sessions/{}/end", segments: [rows.session.id.description]),
            Example(path: "/devices/{}", segments: [device]), Example(path: "/devices/{}/revoke", segments: [device]),
            Example(path: "/bans"), Example(path: "/bans", values: ["state": "all", "after": rows.ban.description]),
            Example(path: "/bans", values: ["user": user]), Example(path: "/bans", values: ["device": device]),
            Example(path: "/bans/new"), Example(path: "/bans/{}", segments: [rows.ban.description]),
            Example(path: "/bans/{}/lift", segments: [rows.ban.description]),
            Example(path: "/acts"), Example(path: "/acts/{}", segments: [rows.act.description]),
            Example(path: "/review"), Example(path: "/review", values: ["after": rows.card.description]),
            Example(path: "/review/{}", segments: [rows.card.description]),
            Example(path: "/review/{}/next", segments: [rows.card.description]),
            Example(path: "/providers"), Example(path: "/providers", values: ["after": "a"]),
            Example(path: "/outbox"), Example(path: "/outbox", values: ["state": "dead", "after": "\(rows.message)"]),
            Example(path: "/outbox/retry"), Example(path: "/outbox/{}/retry", segments: [rows.message.description]),
            Example(path: "/outbox/{}/drop", segments: [rows.message.description]),
            Example(path: "/audit"), Example(path: "/audit", values: ["kind": "user", "subject": user, "after": "9"]),
            Example(path: "/audit", values: ["actor": "admin test", "since": "24h"]), Example(path: "/audit/lines"),
        ]
    }
}

/// A store that gives up each statement, as PostgreSQL does after the time limit of pages.
private struct LateStore: Database {
    private static let late = StoreError.unavailable(reason: "a statement took longer than its time limit")

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        throw Self.late
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        throw Self.late
    }

    func tables() async throws -> [TableShape] { throw Self.late }
    func changeStamp() throws -> Int64 { throw Self.late }
    func check() async throws { throw Self.late }
    func close() async throws {}
}
