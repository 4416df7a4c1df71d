import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import Console

@Suite("What administrators do to a user in the console")
struct UserActionTests {
    /// A user with a session on each of two devices.
    private static func ann(_ world: ConsoleWorld) async throws -> (id: String, session: Session) {
        _ = try await world.fixture.opened("ann", on: try await world.fixture.connectNewDevice())
        let session = try await world.fixture.opened("ann", on: try await world.fixture.connectNewDevice()).session
        return (session.userID.description, session)
    }

    private static func entries(_ id: String, _ world: ConsoleWorld) async throws -> [UserEvent] {
        try await world.fixture.admin.readHistory(of: id, limit: 50).events.filter { $0.kind == .audit }
    }

    @Test("ends all sessions, with number, reason and name in the user's timeline")
    func endSessions() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let (id, _) = try await Self.ann(world)
            let path = "/users/{}/end-sessions"
            let page = try await world.page(path, [id])
            page.requireWellFormed()
            #expect(page.text.contains("2 sessions on 2 devices will end at once"))
            await #expect(throws: Refusal.reasonUnreadable) { try await world.act(path, [id]) }
            #expect(try await world.administration.readUserDetail(id).sessions.count == 2)
            #expect(try await world.act(path, [id], ["reason": "ticket:1"]) == "/users/\(id)")
            #expect(try await world.administration.readUserDetail(id).sessions.isEmpty)
            let entry = try #require(try await Self.entries(id, world).first)
            #expect(entry.reason == "ticket:1" && entry.actor == "admin lena, support")
            #expect(entry.what == "session_ended: 2 sessions ended")
            let text = try await world.page("/users/{}", [id]).text
            #expect(text.contains("No session is open.") && text.contains("ticket:1"))
        }
    }

    @Test("challenges all sessions, or ends one of them")
    func challenge() async throws {
        try await ConsoleWorld.run(as: .support) { world in
            let (id, session) = try await Self.ann(world)
            let reason = ["reason": "ticket:2"]
            let end = "/sessions/{}/end"
            #expect(try await world.page(end, [session.id.description]).text.contains("1 session of <bdi>ann</bdi>"))
            #expect(try await world.act(end, [session.id.description], reason) == "/users/\(id)")
            await #expect(throws: Refusal(.conflict, "")) {
                try await world.act(end, [session.id.description], reason)
            }
            #expect(try await world.page("/users/{}/challenge", [id]).text.contains("1 session will be challenged."))
            #expect(try await world.act("/users/{}/challenge", [id], reason) == "/users/\(id)")
            #expect(try await world.administration.readUserDetail(id).sessions.map(\.state) == [.challenged])
            #expect(try await world.page("/users/{}/challenge", [id]).text.contains("0 sessions will be challenged."))
        }
    }

    @Test("exports the stored data as a file, and the timeline says who did")
    func export() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let (id, _) = try await Self.ann(world)
            try await world.page("/users/{}/export", [id]).requireWellFormed()
            await #expect(throws: Refusal.reasonUnreadable) { try await world.act("/users/{}/export", [id]) }
            #expect(try await Self.entries(id, world).isEmpty)
            let answer = try await world.answer(.action, "/users/{}/export", [id], ["reason": "user_request"])
            guard case .download(let bytes, _, let mediaType) = answer else {
                Issue.record("\(answer)")
                return
            }
            let json = try StrictJSON.parse(bytes)
            #expect(json["user_id"]?.text == id && mediaType.description == "application/json")
            let entry = try #require(try await Self.entries(id, world).first)
            #expect(entry.reason == "user_request" && entry.actor == "admin lena, security")
            #expect(entry.what.hasPrefix("personal_data_read"))
        }
    }

    @Test("erases only a user whose box is checked")
    func erase() async throws {
        try await ConsoleWorld.run(as: .security) { world in
            let (id, _) = try await Self.ann(world)
            let page = try await world.page("/users/{}/erase", [id])
            page.requireWellFormed()
            #expect(page.text.contains("2 sessions will end at once") && page.text.contains("the data of 0 cards"))
            for values in [["reason": "user_request"], ["sure": "yes"]] {
                await #expect(throws: Refusal.self) { try await world.act("/users/{}/erase", [id], values) }
            }
            #expect(try await world.administration.readUserDetail(id).erasedAt == nil)
            try await world.act("/users/{}/erase", [id], ["reason": "user_request", "sure": "yes"])
            #expect(try await world.page("/users/{}", [id]).text.contains("<dt>Erased</dt>"))
        }
    }

    @Test("is refused by the operation, too, if the role lacks the right", arguments: AdminRole.allCases)
    func roles(role: AdminRole) async throws {
        try await ConsoleWorld.run(as: role) { world in
            let values = [
                "reason": "spam", "sure": "yes", "users": "1", "user": "test/ann", "trait": "phone",
                "value": "+14155552671", "kind": "user", "subject": "test/ann", "scope": "all",
                "duration": "permanent", "note": "appeal",
            ]
            var codes: [AdminRight: Int] = [:]
            for route in ConsoleWorld.routes where !role.includes(route.right) {
                let device = route.path.description.hasPrefix("/devices")
                let form = device ? values.merging(["reason": "keyCompromise"]) { $1 } : values
                let refusal = await #expect(throws: Refusal.self, "\(role), \(route.path)") {
                    try await route.answer(world.request([UUID().uuidString], form, operationID: "o1"))
                }
                #expect(refusal?.code == .insufficientScope, "\(role), \(route.path)")
                codes[route.right, default: 0] += 1
            }
            #expect((codes[.manage] ?? 0) > 10 || role == .security)
            #expect((codes[.support] ?? 0) > 5 || role.includes(.support))
        }
    }
}
