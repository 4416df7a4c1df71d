import Cards
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Operations
@testable import Repositories

@Suite("A reviewer's decision that can be undone")
struct LaterDecisionTests {
    /// A card in review, which is another user's document too.
    private struct Waiting {
        let bench: CardBench
        let bob: PhoneBench.Person
        let card: IdentityCardID
        var fixture: ServiceFixture { bench.fixture }
        var admin: Administration { bench.admin }

        init(_ fixture: ServiceFixture) async throws {
            bench = try CardBench(fixture)
            try await bench.show(try .virginia, try await bench.withPhone("alice", "+14155552671"))
            bob = try await bench.withPhone("bob", "+14155552672")
            card = try await bench.show(try .virginia, bob).id
        }

        func status() async throws -> CardStatus? {
            try await fixture.store.read { [card] in try IdentityCardRepository($0).find(card)?.status }
        }

        func events() async throws -> [String] {
            try await fixture.store.read { transaction in
                try transaction.query(
                    """
                    SELECT event, actor FROM audit_entries WHERE event LIKE 'card_%' OR event = 'identity_verified'
                    ORDER BY at
                    """
                ).map { try "\($0.text(0)) by \($0.text(1))" }
            }.filter { $0.hasSuffix("admin test") || $0.hasSuffix("admin ben") }
        }

        func administration(_ name: String, _ one: Administrator? = nil) -> Administration {
            let keys = fixture.personalKeys
            return Administration(
                store: fixture.store, environment: admin.environment, actor: "admin \(name)", administrator: one
            ) { keys }
        }
    }

    private static func refusal(_ body: () async throws -> Void) async -> Refusal? {
        do { try await body() } catch { return error as? Refusal }
        return nil
    }

    @Test("takes effect after ten seconds, on any node, once", arguments: [true, false])
    func effect(isAccepted: Bool) async throws {
        try await ServiceFixture.run(on: .sqlite, nodes: 2) { fixture, nodes in
            let waiting = try await Waiting(fixture)
            let time = try await waiting.admin.decideCardLater(waiting.card, isAccepted: isAccepted, reason: "twins")
            #expect(time == fixture.clock.now + 10)
            // It is neither in force nor in the queue, and the user sees no difference.
            fixture.clock.advance(9)
            for node in nodes { try await Housekeeping(node)() }
            #expect(try await waiting.status() == .inReview)
            #expect(try await waiting.bench.assurance(waiting.bob) == .phone)
            #expect(try await waiting.admin.listCardsInReview(limit: 10).isEmpty)
            let shown = try await waiting.admin.readCardInReview(waiting.card)
            #expect(shown.summary.decision?.status == (isAccepted ? .verified : .rejected) && shown.reason == "twins")
            // The process that stored the decision is gone. Another one needs nothing of it.
            fixture.clock.advance(2)
            for node in nodes { try await Housekeeping(node)() }
            #expect(try await waiting.status() == (isAccepted ? .verified : .rejected))
            #expect(try await waiting.bench.assurance(waiting.bob) == (isAccepted ? .barcode : .phone))
            let decided = try await waiting.admin.readCardInReview(waiting.card)
            #expect(decided.entry.decidedAt == fixture.clock.now && decided.entry.decidedBy == "admin test")
            #expect(decided.entry.sealedInput == nil && decided.summary.decision == nil && decided.reason == "twins")
            let end = isAccepted ? "identity_verified" : "card_rejected"
            #expect(try await waiting.events() == ["card_decided by admin test", "\(end) by admin test"])
        }
    }

    @Test("is lost in no crash between its storing and its effect, nor in one in the middle of its effect")
    func crash() async throws {
        try await ServiceFixture.run { fixture in
            let waiting = try await Waiting(fixture)
            _ = try await waiting.admin.decideCardLater(waiting.card, isAccepted: true, reason: "twins")
            fixture.clock.advance(11)
            // A process that has the lease dies before it has done anything.
            try await fixture.store.write {
                _ = try MaintenanceTaskRepository($0).lease("card_decisions", to: "dead", for: RunMaintenanceTask.lease)
            }
            try await fixture.housekeeping()
            #expect(try await waiting.status() == .inReview)
            fixture.clock.advance(RunMaintenanceTask.lease)
            // The effect fails after it has changed rows: nothing of it stays, and the next run repeats it.
            try await fixture.store.write { try $0.execute("ALTER TABLE audit_entries RENAME TO lost") }
            #expect(try await fixture.housekeeping().failed.map(\.task) == ["card_decisions"])
            #expect(try await waiting.status() == .inReview)
            try await fixture.store.write { try $0.execute("ALTER TABLE lost RENAME TO audit_entries") }
            fixture.clock.advance(RunMaintenanceTask.pause)
            #expect(try await fixture.housekeeping().failed.isEmpty)
            #expect(try await waiting.status() == .verified)
        }
    }

    @Test("is undone before its effect: the card is in the queue again, and is decided anew")
    func undo() async throws {
        try await ServiceFixture.run { fixture in
            let waiting = try await Waiting(fixture)
            _ = try await waiting.admin.decideCardLater(waiting.card, isAccepted: true, reason: "twins")
            fixture.clock.advance(9.999)
            try await waiting.admin.undoCardDecision(waiting.card)
            #expect(try await waiting.admin.listCardsInReview(limit: 10).map(\.id) == [waiting.card])
            let shown = try await waiting.admin.readCardInReview(waiting.card)
            #expect(shown.summary.decision == nil && shown.summary.decidedBy == nil && shown.reason == nil)
            fixture.clock.advance(60)
            try await fixture.housekeeping()
            #expect(try await waiting.status() == .inReview)
            let again = await Self.refusal { try await waiting.admin.undoCardDecision(waiting.card) }
            #expect(again?.code == .conflict && again?.state == "in_review")
            _ = try await waiting.admin.decideCardLater(waiting.card, isAccepted: false, reason: "a copy")
            fixture.clock.advance(10)
            try await fixture.housekeeping()
            #expect(try await waiting.status() == .rejected)
            #expect(
                try await waiting.events() == [
                    "card_decided by admin test", "card_decision_undone by admin test", "card_decided by admin test",
                    "card_rejected by admin test",
                ])
        }
    }

    @Test("cannot be undone from its time on, applied already or not")
    func late() async throws {
        try await ServiceFixture.run { fixture in
            let waiting = try await Waiting(fixture)
            let time = try await waiting.admin.decideCardLater(waiting.card, isAccepted: true, reason: "twins")
            fixture.clock.advance(time.timeIntervalSince(fixture.clock.now))
            for state in ["in_review", "verified"] {
                let refusal = await Self.refusal { try await waiting.admin.undoCardDecision(waiting.card) }
                #expect(refusal?.code == .conflict && refusal?.state == state)
                try await fixture.housekeeping()
                #expect(try await waiting.status() == .verified)
            }
        }
    }

    @Test("is that of one of two reviewers, and only that reviewer undoes it")
    func two() async throws {
        try await ServiceFixture.run { fixture in
            let waiting = try await Waiting(fixture)
            let ben = waiting.administration("ben")
            func decide(_ admin: Administration, _ isAccepted: Bool) async -> Refusal? {
                await Self.refusal {
                    _ = try await admin.decideCardLater(waiting.card, isAccepted: isAccepted, reason: "seen")
                }
            }
            async let first = decide(waiting.admin, true)
            async let second = decide(ben, false)
            let refused = await [first, second].compactMap(\.self)
            #expect(refused.count == 1 && refused.allSatisfy { $0.state == "decided" })
            let found = try await waiting.admin.readCardInReview(waiting.card).summary.decision
            let decision = try #require(found)
            let (owner, other) = decision.actor == "admin ben" ? (ben, waiting.admin) : (waiting.admin, ben)
            // Neither the other reviewer nor a command decides it again.
            for body in [
                { try await other.undoCardDecision(waiting.card) },
                { try await other.approveCard(waiting.card, reason: "now") },
                { try await owner.rejectCard(waiting.card, reason: "now") },
            ] as [() async throws -> Void] {
                let refusal = await Self.refusal(body)
                #expect(refusal?.code == .conflict && refusal?.state == "decided")
            }
            try await owner.undoCardDecision(waiting.card)
            #expect(await decide(other, false) == nil)
        }
    }

    @Test("is refused at once if the card cannot be accepted, and dropped if that changes before its effect")
    func dropped() async throws {
        try await ServiceFixture.run { fixture in
            let waiting = try await Waiting(fixture)
            _ = try await waiting.admin.decideCardLater(waiting.card, isAccepted: true, reason: "twins")
            // Another user proves the number meanwhile.
            _ = try await waiting.bench.withPhone("carol", "+14155552672")
            fixture.clock.advance(10)
            #expect(try await fixture.housekeeping().failed.isEmpty)
            #expect(try await waiting.status() == .inReview)
            #expect(try await waiting.admin.listCardsInReview(limit: 10).map(\.id) == [waiting.card])
            #expect(
                try await waiting.events() == ["card_decided by admin test", "card_decision_dropped by admin test"])
            let refusal = await Self.refusal {
                _ = try await waiting.admin.decideCardLater(waiting.card, isAccepted: true, reason: "twins")
            }
            #expect(refusal?.code == .conflict)
            _ = try await waiting.admin.decideCardLater(waiting.card, isAccepted: false, reason: "number lost")
        }
    }

    @Test("needs a reason and the right, and goes with the user's erasure")
    func conditions() async throws {
        try await ServiceFixture.run { fixture in
            let waiting = try await Waiting(fixture)
            await #expect(throws: Refusal(.malformedRequest, "")) {
                try await waiting.admin.decideCardLater(waiting.card, isAccepted: true, reason: "")
            }
            for role in AdminRole.allCases {
                let one = try await waiting.admin.addAdministrator("a-\(role)", role: role)
                let admin = waiting.administration("a-\(role)", one)
                let refusal = await Self.refusal {
                    _ = try await admin.decideCardLater(waiting.card, isAccepted: true, reason: "twins")
                    try await admin.undoCardDecision(waiting.card)
                }
                #expect((refusal == nil) == role.includes(.review), "\(role)")
            }
            _ = try await waiting.admin.decideCardLater(waiting.card, isAccepted: true, reason: "twins")
            _ = try await fixture.context.erasePersonalData(for: waiting.bob.session)
            fixture.clock.advance(10)
            #expect(try await fixture.housekeeping().failed.isEmpty)
            #expect(try await waiting.status() == nil)
        }
    }

    @Test("shows the reviewer the user's other cards, and the card that verified the user before")
    func history() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let first = try await bench.show(try .virginia, alice)
            fixture.clock.advance(1)
            let second = try await bench.show(try CardBench.specimen("T64235782", given: "MARTHA"), alice)
            fixture.clock.advance(1)
            let third = try await bench.show(try CardBench.specimen("T64235783", given: "MARTIN"), alice)
            try await bench.admin.rejectCard(second.id, reason: "a copy")
            let shown = try await bench.admin.readCardInReview(third.id).summary
            #expect(shown.earlier.map(\.id) == [second.id, first.id])
            #expect(shown.earlier.map(\.status) == [.rejected, .verified])
            #expect(shown.earlier.first?.failed.map(\.name) == [.samePerson])
            #expect(shown.former == first.facts && shown.level == .barcode && shown.gives == .barcode)
        }
    }
}
