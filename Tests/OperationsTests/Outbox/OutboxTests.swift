import Database
import Delivery
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("The outbox")
struct OutboxTests {
    @Test("tries a text five times, 2 to 54 seconds apart, and keeps it as a dead letter that can be tried again")
    func retries() async throws {
        var policy = Policy()
        policy.phones.lifetime = 600
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            try await bench.begin("+14155552671", try await bench.person("alice"))
            bench.texts.answer(.unavailable(reason: "down"))
            for wait in [2.0, 6, 18, 54] {
                let due = try await bench.deliver()
                #expect(due == fixture.clock.now + wait)
                fixture.clock.advance(wait - 0.5)
                _ = try await bench.deliver()
                fixture.clock.advance(0.5)
            }
            #expect(try await bench.deliver() == nil)
            #expect(bench.texts.sent.count == 5)
            let dead = try #require(try await bench.fixture.admin.listOutbox(.dead, limit: 10).first)
            #expect(dead.tries == 5)
            #expect(dead.reason == "down")
            #expect(bench.texts.ids == [OutboxMessageID](repeating: dead.id, count: 5))
            bench.texts.answer(.sent(reference: "1"))
            #expect(try await bench.fixture.admin.retryMessage(dead.id).state == .waiting)
            _ = try await bench.deliver()
            #expect(bench.texts.sent.count == 6)
            #expect(Set(bench.texts.ids) == [dead.id])
            #expect(try await bench.fixture.admin.listOutbox(.sent, limit: 10).map(\.id) == [dead.id])
            await #expect(throws: Refusal(.conflict, "")) { try await bench.fixture.admin.retryMessage(dead.id) }
            await #expect(throws: Refusal(.conflict, "")) { try await bench.fixture.admin.dropMessage(dead.id) }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.fixture.admin.dropMessage(OutboxMessageID(UUID()))
            }
        }
    }

    @Test("gives a refused text up at once, and sends none that was dropped")
    func refusedAndDropped() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            try await bench.begin("+14155552671", try await bench.person("alice"))
            bench.texts.answer(.refused(reason: "landline"))
            #expect(try await bench.deliver() == nil)
            #expect(try await bench.fixture.admin.listOutbox(.dead, limit: 10).map(\.reason) == ["landline"])
            try await bench.begin("+14156662671", try await bench.person("bob"))
            let waiting = try #require(try await bench.fixture.admin.listOutbox(.waiting, limit: 10).first)
            _ = try await bench.fixture.admin.dropMessage(waiting.id)
            _ = try await bench.deliver()
            #expect(bench.texts.sent.count == 1)
        }
    }

    @Test("sends no text after its time, after its verification, or after its user was erased")
    func overtaken() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            try await bench.begin("+14155552671", try await bench.person("alice"))
            fixture.clock.advance(300)
            _ = try await bench.deliver()
            let bob = try await bench.person("bob")
            let id = try await bench.begin("+14156662671", bob).id
            #expect(try await bench.verdict(id, bench.code(id, "+14156662671", bob), bob) == .right)
            _ = try await bench.deliver()
            let carol = try await bench.person("carol")
            try await bench.begin("+14157772671", carol)
            let keys = bench.keys
            let user = carol.session.userID
            try await fixture.store.write { transaction in
                try DataKeyRepository(transaction, keys: keys).erase(user, at: transaction.now)
            }
            _ = try await bench.deliver()
            #expect(bench.texts.sent.isEmpty)
            let expired = try await bench.fixture.admin.listOutbox(.expired, limit: 10)
            #expect(expired.count == 3)
            #expect(expired.allSatisfy { $0.payload.isEmpty })
        }
    }

    @Test("loses nothing of a process that died with a text in its hands: the lease runs out")
    func lease() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            try await bench.begin("+14155552671", try await bench.person("alice"))
            let leased = try await fixture.store.write {
                try OutboxClaims($0).lease("dead process", [.phoneCode: 8], for: 30)
            }
            #expect(leased.count == 1)
            #expect(try await bench.deliver() == fixture.clock.now + 30)
            #expect(bench.texts.sent.isEmpty)
            fixture.clock.advance(30)
            _ = try await bench.deliver()
            #expect(bench.texts.sent.count == 1)
            let late = try await fixture.store.write {
                try OutboxRepository($0).settle(leased[0], lease: "dead process")
            }
            #expect(!late)
        }
    }

    @Test("writes the same message once, and sends a hundred messages each once")
    func once() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture, rateLimiting: .off)
            let alice = try await bench.person("alice")
            for index in 0..<100 { try await bench.begin("+1415555\(2000 + index)", alice) }
            let message = try #require(try await bench.fixture.admin.listOutbox(.waiting, limit: 1).first)
            let again = OutboxMessage(
                id: OutboxMessageID(UUID()), kind: message.kind, owner: message.owner, subject: message.subject,
                userID: message.userID,
                deduplicationKey: message.deduplicationKey, payload: message.payload, createdAt: message.createdAt,
                expiresAt: message.expiresAt, dueAt: message.dueAt)
            #expect(try await fixture.store.write { try OutboxRepository($0).insert(again) } == false)
            _ = try await bench.deliver()
            #expect(bench.texts.sent.count == 100)
            #expect(Set(bench.texts.sent.map(\.to)).count == 100)
        }
    }
}
