import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Console
@testable import Operations

/// Cards in review in a store, and requests to the pages about them.
private struct ReviewWorld {
    let world: ConsoleWorld
    var fixture: ServiceFixture { world.fixture }

    static func run(as role: AdminRole = .reviewer, _ body: (ReviewWorld) async throws -> Void) async throws {
        try await ConsoleWorld.run(as: role) { try await body(ReviewWorld(world: $0)) }
    }

    /// A user with a verified number, who shows the document of the example.
    @discardableResult
    func show(_ name: String, _ number: String) async throws -> IdentityCardID {
        let keys = fixture.personalKeys
        let session = try await fixture.opened(name, on: try await fixture.connectNewDevice()).session
        try await fixture.store.write { transaction in
            let found = try UserRepository(transaction).find(session.userID)
            let user = try #require(found)
            _ = try AuthenticatedUserRepository(transaction, keys: keys).phoneProven(user, number, at: transaction.now)
        }
        let specimen = try #require(CardSpecimen("VA"))
        let card = try await fixture.context.submitCard(
            .aamva(Data(specimen.bytes).base64EncodedString()), for: session, askIssuer: nil)
        fixture.clock.advance(1)
        return card.id
    }

    func route(_ kind: ConsoleRoute.Kind, _ path: String) throws -> ConsoleRoute {
        try #require(ReviewPages.routes.first { $0.kind == kind && $0.path.description == path })
    }

    func get(_ path: String, _ segments: [String] = [], _ values: [String: String] = [:]) async throws -> ConsoleAnswer
    {
        try await route(.page, path).answer(world.request(segments, values))
    }

    func post(_ path: String, _ id: IdentityCardID, _ values: [String: String] = [:]) async throws -> ConsoleAnswer {
        try await route(.action, path).answer(world.request([id.description], values, operationID: UUID().uuidString))
    }

    func status(_ id: IdentityCardID) async throws -> CardStatus? {
        try await fixture.store.read { try IdentityCardRepository($0).find(id)?.status }
    }
}

@Suite("The routes of card review")
struct ReviewRouteTests {
    @Test("lead from a decision to the next card, with a way back for ten seconds")
    func next() async throws {
        try await ReviewWorld.run { review in
            try await review.show("alice", "+14155552671")
            let first = try await review.show("bob", "+14155552672")
            let second = try await review.show("carol", "+14155552673")
            let queue = try #require(try await review.get("/review").shown)
            #expect(queue.text.contains("/review/\(first)") && queue.text.contains("/review/\(second)"))
            let card = try #require(try await review.get("/review/{}", [first.description]).shown)
            #expect(card.text.contains("Another user of the app has shown this document."))
            #expect(card.text.contains("test/alice") && card.text.contains("T64225789"))
            #expect(card.text.ranges(of: "<form method=").count == 2)
            #expect(card.ids.count == 4 && Set(card.ids).count == 4)
            let target = try await review.post("/review/{}/accept", first, ["accept_reason": "twins"]).redirect
            #expect(target == "/review/\(second)?decided=\(first)")
            let following = try #require(
                try await review.get("/review/{}", [second.description], ["decided": first.description]).shown)
            #expect(following.text.contains("action=\"/review/\(first)/undo\""))
            #expect(try await review.post("/review/{}/undo", first).redirect == "/review/\(first)")
            #expect(try await review.status(first) == .inReview)
            // The last card leads back to the queue.
            let last = try await review.post("/review/{}/reject", second, ["reject_reason": "a copy"]).redirect
            #expect(last == "/review?decided=\(second)")
            review.fixture.clock.advance(10)
            try await review.fixture.housekeeping()
            #expect(try await review.status(second) == .rejected)
            await #expect(throws: Refusal(.conflict, "")) { try await review.post("/review/{}/undo", second) }
        }
    }

    @Test("lead past a card without a decision, and past one that another reviewer has decided")
    func passing() async throws {
        try await ReviewWorld.run { review in
            try await review.show("alice", "+14155552671")
            let first = try await review.show("bob", "+14155552672")
            let second = try await review.show("carol", "+14155552673")
            #expect(try await review.get("/review/{}/next", [first.description]).redirect == "/review/\(second)")
            #expect(try await review.get("/review/{}/next", [second.description]).redirect == "/review")
            try await review.fixture.admin.rejectCard(first, reason: "a copy")
            #expect(try await review.get("/review/{}/next", [first.description]).redirect == "/review/\(second)")
            let late = try await review.post("/review/{}/accept", first, ["accept_reason": "twins"])
            let refused = try #require(late.shown)
            #expect(refused.title == "The decision was not stored" && refused.text.contains("It is already rejected."))
            #expect(refused.text.contains("href=\"/review/\(first)/next\""))
            let decided = try #require(try await review.get("/review/{}", [first.description]).shown)
            #expect(decided.text.contains("admin test") && !decided.text.contains("<form method=\"post\""))
        }
    }

    @Test("are not limited for cards that wait, and for all other cards like a look at a person")
    func limit() async throws {
        try await ReviewWorld.run { review in
            try await review.show("alice", "+14155552671")
            let waiting = try await review.show("bob", "+14155552672")
            let decided = try await review.show("carol", "+14155552673")
            try await review.fixture.admin.rejectCard(decided, reason: "a copy")
            let lena = review.world.administrator
            for number in 0..<60 {
                try review.fixture.context.countLook(at: Digest256.of("\(number)"), of: [], by: lena)
            }
            _ = try await review.get("/review/{}", [waiting.description])
            await #expect(throws: Refusal(.rateLimited, "")) {
                try await review.get("/review/{}", [decided.description])
            }
        }
    }

    @Test("need a reason, an id of a card, and the right in the operation too")
    func refusals() async throws {
        try await ReviewWorld.run { review in
            try await review.show("alice", "+14155552671")
            let card = try await review.show("bob", "+14155552672")
            for values in [[:], ["accept_reason": ""], ["reject_reason": "a copy"]] {
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    try await review.post("/review/{}/accept", card, values)
                }
            }
            for id in ["", "x", UUID().uuidString.lowercased()] {
                await #expect(throws: Refusal(.notFound, "")) { try await review.get("/review/{}", [id]) }
            }
            #expect(try await review.status(card) == .inReview)
        }
        for role in AdminRole.allCases where !role.includes(.review) {
            try await ReviewWorld.run(as: role) { review in
                let id = IdentityCardID(UUID())
                for route in ReviewPages.routes {
                    await #expect(throws: Refusal(.insufficientScope, ""), "\(role), \(route.path)") {
                        try await route.answer(
                            review.world.request(
                                [id.description], ["accept_reason": "x", "reject_reason": "x"], operationID: "o"))
                    }
                }
            }
        }
    }
}
