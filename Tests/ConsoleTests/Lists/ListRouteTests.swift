import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Console
@testable import Operations

@Suite("The routes of the lists")
struct ListRouteTests {
    private static let routes = [
        ProviderPages.routes, OutboxPages.routes, AuditPages.routes, PolicyPages.routes, NodePages.routes,
    ].flatMap(\.self)

    private static func answer(
        _ kind: ConsoleRoute.Kind, _ path: String, _ world: ConsoleWorld, _ segments: [String] = [],
        _ values: [String: String] = [:]
    ) async throws -> ConsoleAnswer {
        let route = try #require(routes.first { $0.kind == kind && $0.path.description == path })
        return try await route.answer(world.request(segments, values, operationID: UUID().uuidString))
    }

    private static func text(
        _ path: String, _ world: ConsoleWorld, _ segments: [String] = [], _ values: [String: String] = [:]
    ) async throws -> String {
        try #require(try await answer(.page, path, world, segments, values).shown).text
    }

    private static func message(_ state: OutboxMessage.State, in world: ConsoleWorld) async throws -> OutboxMessageID {
        let id = OutboxMessageID(UUID())
        let provider = world.fixture.registration.provider.id
        try await world.fixture.store.write { transaction in
            let now = transaction.now
            try OutboxRepository(transaction).enqueueInsert(
                OutboxMessage(
                    id: id, kind: .providerEvent, owner: OutboxOwner(provider), subject: provider.description,
                    userID: UserID(UUID()), deduplicationKey: "\(id)", payload: [1], createdAt: now,
                    expiresAt: now + 3600, dueAt: now))
            let end: Value = state == .waiting ? .null : .integer(0)
            try transaction.execute(
                "UPDATE outbox SET state = $2, ended_at = $3 WHERE id = $1",
                [.text(id.description), .text(state.rawValue), end])
        }
        return id
    }

    private static func reasons(of event: String, in world: ConsoleWorld) async throws -> [String] {
        try await world.fixture.store.read { transaction in
            try transaction.query("SELECT reason FROM audit_entries WHERE event = $1", [.text(event)]).map {
                try $0.textOrNull(0) ?? ""
            }
        }
    }

    @Test("are refused without the right, by the operations themselves or before anything is read")
    func roles() async throws {
        for role in AdminRole.allCases {
            try await ConsoleWorld.run(as: role) { world in
                // The policies are the node's own, so their route alone checks the right.
                for route in Self.routes where !role.includes(route.right) && route.path.description != "/policies" {
                    let values = ["reason": "ticket:1", "sure": "yes", "identity_token": "x"]
                    let segments = [
                        route.path.description.hasPrefix("/outbox") ? UUID().uuidString.lowercased() : "test"
                    ]
                    await #expect(throws: Refusal(.insufficientScope, ""), "\(role), \(route.path)") {
                        try await route.answer(world.request(segments, values, operationID: "o"))
                    }
                }
            }
        }
    }

    @Test("of messages send a dead one again and drop one, with the reason in the audit log")
    func outbox() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let (dead, waiting) = (
                try await Self.message(.dead, in: world), try await Self.message(.waiting, in: world)
            )
            let list = try await Self.text("/outbox", world, [], ["state": "dead"])
            #expect(list.contains("/outbox/\(dead)/retry") && !list.contains("\(waiting)"))
            #expect(try await Self.text("/outbox/retry", world).contains("1 dead message"))
            #expect(try await Self.text("/outbox/{}/drop", world, [waiting.description]).contains("never sent"))
            for path in ["/outbox/{}/retry", "/outbox/{}/drop"] {
                await #expect(throws: Refusal(.malformedRequest, ""), "without a reason") {
                    try await Self.answer(.action, path, world, [dead.description])
                }
            }
            let retried = try await Self.answer(
                .action, "/outbox/{}/retry", world, [dead.description], ["reason": "ticket:1"])
            #expect(retried.redirect == "/outbox?state=waiting")
            _ = try await Self.answer(.action, "/outbox/{}/drop", world, [waiting.description], ["reason": "ticket:2"])
            let again = try await Self.message(.dead, in: world)
            _ = try await Self.answer(.action, "/outbox/retry", world, [], ["reason": "ticket:3"])
            #expect(
                try await Self.reasons(of: "outbox_message_retried", in: world).sorted() == ["ticket:1", "ticket:3"])
            #expect(try await Self.reasons(of: "outbox_message_dropped", in: world) == ["ticket:2"])
            await #expect(throws: Refusal(.conflict, "")) {
                try await Self.answer(.page, "/outbox/{}/retry", world, [again.description])
            }
            await #expect(throws: Refusal(.malformedRequest, "")) {
                try await Self.text("/outbox", world, [], ["state": "deaf"])
            }
        }
    }

    @Test("of providers show one with its keys, check a token, and disable it after a box and a reason")
    func providers() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let fixture = world.fixture
            _ = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            #expect(try await Self.text("/providers", world).contains("href=\"/providers/test\""))
            #expect(try await Self.text("/providers", world, [], ["after": "test"]).contains("There is no provider."))
            let shown = try await Self.text("/providers/{}", world, ["test"])
            #expect(shown.contains("\(fixture.registration.keyID)") && shown.contains("an operator"))
            let token = try fixture.identityToken("alice", on: try await fixture.connectNewDevice())
            for (text, verdict) in [(token, "valid"), (token + "x", "not valid"), ("x\n", "not valid")] {
                let answer = try await Self.answer(
                    .action, "/providers/{}/token", world, ["test"], ["identity_token": text])
                let page = try #require(answer.shown)
                #expect(page.text.contains("<dt>Verdict</dt><dd><bdi>\(verdict)</bdi></dd>"), "\(verdict)")
            }
            #expect(try await Self.text("/providers/{}/disable", world, ["test"]).contains("end at once: 1."))
            for values in [["reason": "ticket:1"], ["sure": "yes"], ["reason": "a reason", "sure": "yes"]] {
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    try await Self.answer(.action, "/providers/{}/disable", world, ["test"], values)
                }
            }
            _ = try await Self.answer(
                .action, "/providers/{}/disable", world, ["test"], ["reason": "ticket:1", "sure": "yes"])
            #expect(try await Self.text("/providers/{}", world, ["test"]).contains("/providers/test/enable"))
            _ = try await Self.answer(.action, "/providers/{}/enable", world, ["test"], ["reason": "ticket:2"])
            #expect(try await Self.reasons(of: "provider_disabled", in: world) == ["ticket:1"])
            #expect(try await Self.reasons(of: "provider_enabled", in: world) == ["ticket:2"])
        }
    }

    @Test("of the audit log find by subject, event, actor and time, and give the lines to a program")
    func audit() async throws {
        try await ConsoleWorld.run(as: .auditor) { world in
            let provider = world.fixture.registration.provider.id
            let all = try await Self.text("/audit", world)
            #expect(all.contains("provider_added") && all.contains("administrator_added"))
            func rows(_ values: [String: String]) async throws -> Int {
                try await Self.text("/audit", world, [], values).ranges(of: "<th scope=\"row\">").count
            }
            #expect(try await rows(["kind": "provider", "subject": provider.description]) == 1)
            #expect(try await rows(["event": "administrator_added"]) == 1)
            #expect(try await rows(["actor": "admin test"]) == 2)
            #expect(try await rows(["actor": "admin test", "event": "provider_added"]) == 1)
            #expect(try await rows(["actor": "admin nobody"]) == 0)
            world.fixture.clock.advance(7200)
            #expect(try await rows(["since": "1h"]) == 0)
            #expect(try await rows(["since": "3h"]) == 2)
            for values in [["after": "x"], ["after": "0"]] {
                await #expect(throws: Refusal(.malformedRequest, "")) { try await rows(values) }
            }
            // A field that can be corrected stays, with what is wrong.
            for values in [["event": "x"], ["subject": "x"], ["kind": "x", "subject": "x"], ["since": "x"]] {
                let text = try await Self.text("/audit", world, [], values)
                #expect(text.contains("aria-label=\"Wrong field\"") && text.contains(" value=\"x\""))
                #expect(!text.contains("<th scope=\"row\">"))
            }
            let lines = try await Self.answer(.page, "/audit/lines", world, [], ["event": "provider_added"])
            guard case .download(let bytes, _, _) = lines else {
                Issue.record("The answer is no file.")
                return
            }
            let line = try StrictJSON.parse(Array(bytes.dropLast()))
            #expect(line["event"]?.text == "provider_added" && bytes.last == UInt8(ascii: "\n"))
        }
    }

    @Test("of the audit log verify it, and say what to do if it is too long for that")
    func verification() async throws {
        try await ConsoleWorld.run(as: .auditor) { world in
            let page = try #require(try await Self.answer(.action, "/audit/verify", world).shown)
            #expect(page.title == "The log is valid" && page.text.contains("Head of the chain"))
        }
        let long = AuditListPage.verification(nil, atMost: 5)
        #expect(long.text.contains("more than 5 entries") && long.text.contains("countersign audit verify"))
    }

    @Test("of nodes and policies are read by an auditor")
    func readOnly() async throws {
        try await ConsoleWorld.run(as: .auditor) { world in
            let texts = [try await Self.text("/nodes", world), try await Self.text("/policies", world)]
            #expect(texts.first?.contains("No node serves the store.") == true)
            #expect(texts.last?.contains("There is no such file.") == true)
        }
    }
}
