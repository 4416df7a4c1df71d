import Crypto
import Database
import Delivery
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

@Suite("Receivers that do not answer")
struct ReceiverTests {
    /// What receivers and the carrier of texts were given; some receivers hang, some fail.
    private final class World: Sendable {
        private struct State {
            var given: [String: Int] = [:]
            var underWay: [String: Int] = [:]
            var most: [String: Int] = [:]
            var failing: Set<String> = []
            var answers: [String: DeliveryOutcome] = [:]
            var texts = 0
        }

        private let state = Mutex(State())
        private let hanging: Mutex<Set<String>>

        init(hanging: Set<String> = []) { self.hanging = Mutex(hanging) }

        func fail(_ url: String, _ fails: Bool) {
            state.withLock { if fails { $0.failing.insert(url) } else { $0.failing.remove(url) } }
        }

        func answer(_ url: String, _ outcome: DeliveryOutcome) { state.withLock { $0.answers[url] = outcome } }
        func release() { hanging.withLock { $0 = [] } }
        func given(_ url: String) -> Int { state.withLock { $0.given[url] ?? 0 } }
        func underWay(_ url: String) -> Int { state.withLock { $0.underWay[url] ?? 0 } }
        func most(_ url: String) -> Int { state.withLock { $0.most[url] ?? 0 } }
        var texts: Int { state.withLock { $0.texts } }

        func take(_ message: Message) -> DeliveryOutcome {
            state.withLock { $0.texts += 1 }
            return .sent(reference: "")
        }

        func receive(_ url: String) async -> DeliveryOutcome {
            let fails = state.withLock { state in
                state.given[url, default: 0] += 1
                state.underWay[url, default: 0] += 1
                state.most[url] = max(state.most[url] ?? 0, state.underWay[url] ?? 0)
                return state.failing.contains(url)
            }
            while hanging.withLock({ $0.contains(url) }) { try? await Task.sleep(for: .milliseconds(5)) }
            let answer = state.withLock { state in
                state.underWay[url, default: 0] -= 1
                return state.answers[url]
            }
            if let answer { return answer }
            return fails ? .unavailable(reason: "HTTP 503") : .sent(reference: "")
        }
    }

    /// Waits for something to become so, ten seconds at most.
    private func becomes(_ condition: @Sendable () -> Bool) async throws -> Bool {
        for _ in 0..<12000 {
            if condition() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    private func loop(_ fixture: ServiceFixture, _ world: World) -> DeliverOutbox {
        DeliverOutbox(
            of: fixture.context, events: { await world.receive($0.url) }, send: { message, _ in world.take(message) })
    }

    /// A provider with a user and a receiver, and so many events that wait for it.
    private func provider(_ name: String, events: Int, in fixture: ServiceFixture) async throws -> (
        url: String, id: ProviderID
    ) {
        let (id, url, now) = (ProviderID(UUID()), "https://\(name).example/", fixture.clock.now)
        guard let slug = Slug(name) else { throw Refusal(.malformedRequest, "no slug") }
        try await fixture.store.write { transaction in
            _ = try ProviderRepository(transaction).insert(
                Provider(
                    id: id, slug: slug, name: name, account: nil, avatarHosts: [], createdAt: now, disabledAt: nil))
            try ProviderWebhookRepository(transaction).set(url, of: id)
            let user = try UserRepository(transaction).findOrCreate(
                providerID: id, externalID: "user", newID: UserID(UUID()), at: now)
            for _ in 0..<events {
                try ProviderWebhookRepository(transaction).enqueue(
                    OutboxMessageID(UUID()), .accountDisabled, of: user.id, to: id)
            }
        }
        return (url, id)
    }

    @Test("A receiver that hangs has two messages in its hands, and delays neither another provider's event nor a code")
    func hanging() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let person = try await bench.person("alice")
            let (hung, _) = try await provider("hung", events: 100, in: fixture)
            let world = World(hanging: [hung])
            let signal = LoopSignal()
            let deliver = loop(fixture, world)
            let running = Task { await deliver.run(signal) { Issue.record("\($0)") } }
            #expect(try await becomes { world.underWay(hung) == 2 })
            let (other, _) = try await provider("other", events: 20, in: fixture)
            try await bench.begin("+14155552671", person)
            signal.ring()
            #expect(try await becomes { world.texts == 1 })
            #expect(try await becomes { world.given(other) == 20 })
            #expect(world.given(hung) == 2)
            #expect(world.most(hung) == 2)
            world.release()
            #expect(try await becomes { world.given(hung) == 100 })
            #expect(world.most(hung) == 2)
            running.cancel()
            await running.value
        }
    }

    @Test("No more than two events for one provider are leased at once, by all nodes together")
    func nodes() async throws {
        try await ServiceFixture.run { fixture in
            _ = try await provider("one", events: 9, in: fixture)
            _ = try await provider("two", events: 1, in: fixture)
            func lease(_ name: String) async throws -> Int {
                try await fixture.store.write { try OutboxClaims($0).lease(name, [.providerEvent: 8], for: 30) }
                    .count
            }
            #expect(try await lease("a") == 3)
            #expect(try await lease("b") == 0)
            // What blocks it now is known to end with the leases.
            #expect(
                try await fixture.store.read { try OutboxClaims($0).nextDue([.providerEvent]) } == fixture.clock.now
                    + 30)
            fixture.clock.advance(30)
            #expect(try await lease("b") == 3)
        }
    }

    @Test("After five failures in a row a receiver rests, longer each time; one attempt shows that it is back")
    func breaker() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let (down, id) = try await provider("down", events: 20, in: fixture)
            let world = World()
            world.fail(down, true)
            let deliver = loop(fixture, world)
            #expect(try await deliver() == fixture.clock.now + 5)
            #expect(world.given(down) == 5)
            fixture.clock.advance(4)
            _ = try await deliver()
            #expect(world.given(down) == 5)
            fixture.clock.advance(1)
            #expect(try await deliver() == fixture.clock.now + 10)
            #expect(world.given(down) == 6)
            // Meanwhile another is told at once.
            let (up, _) = try await provider("up", events: 3, in: fixture)
            _ = try await deliver()
            #expect(world.given(up) == 3)
            world.fail(down, false)
            fixture.clock.advance(60)
            #expect(try await deliver() == nil)
            #expect(world.given(down) == 26)
            #expect(
                try await fixture.store.read { try ProviderWebhookRepository($0).breaker(of: id) } == ReceiverBreaker())
            #expect(try await bench.fixture.admin.listOutbox(.sent, limit: 100).count == 23)
        }
    }

    @Test("A receiver that says when it takes the next event gets none before")
    func retryAfter() async throws {
        try await ServiceFixture.run { fixture in
            let (busy, _) = try await provider("busy", events: 3, in: fixture)
            let world = World()
            world.answer(busy, .unavailable(reason: "HTTP 429", retryAfter: 20))
            let deliver = loop(fixture, world)
            _ = try await deliver()
            let given = world.given(busy)
            #expect(given <= ReceiverBreaker.inFlight)
            fixture.clock.advance(19)
            #expect(try await deliver() == fixture.clock.now + 1)
            #expect(world.given(busy) == given)
            world.answer(busy, .sent(reference: ""))
            fixture.clock.advance(1)
            _ = try await deliver()
            #expect(world.given(busy) == given + 3)
        }
    }

    @Test("A receiver that is gone is told nothing more: the webhook is removed, a stream is disabled, others go on")
    func gone() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let (gone, id) = try await provider("gone", events: 0, in: fixture)
            let push = "https://stream.example/"
            let stream = EventStream(
                id: EventStreamID(UUID()), provider: id, settings: EventStream.Settings(delivery: .push(push)),
                createdAt: fixture.clock.now, approvedURL: push)
            try await fixture.store.write { transaction in
                let streams = EventStreamRepository(transaction)
                try streams.save(stream)
                for _ in 0..<5 {
                    try ProviderWebhookRepository(transaction).enqueueTest(
                        OutboxMessageID(UUID()), state: "x", to: id)
                    try streams.enqueue(
                        OutboxMessageID(UUID()), .verification(state: nil), of: nil, in: .init(stream), cause: "x")
                }
            }
            let (up, _) = try await provider("up", events: 3, in: fixture)
            let world = World()
            for url in [gone, push] { world.answer(url, .receiverGone) }
            #expect(try await loop(fixture, world)() == nil)
            #expect(world.given(gone) <= ReceiverBreaker.inFlight && world.given(push) <= ReceiverBreaker.inFlight)
            #expect(world.given(up) == 3)
            let (url, status) = try await fixture.store.read { transaction in
                (
                    try ProviderWebhookRepository(transaction).find(id),
                    try EventStreamRepository(transaction).find(stream.id)?.status
                )
            }
            #expect(url == nil && status == .disabled)
            #expect(try await bench.fixture.admin.listOutbox(.waiting, limit: 10).isEmpty)
            let entries: [String] = try await fixture.store.read { transaction in
                try transaction.query(
                    "SELECT event FROM audit_entries WHERE subject IN ($1, $2) ORDER BY event",
                    [.text("provider \(id)"), .text("stream \(stream.id)")]
                ).map { try $0.text(0) }
            }
            #expect(entries == ["event_stream_disabled", "webhook_removed"])
        }
    }

    @Test("A receiver that was set anew begins anew, whatever its predecessor still answers")
    func replaced() async throws {
        try await ServiceFixture.run { fixture in
            let (url, id) = try await provider("down", events: 0, in: fixture)
            let breaker = try await fixture.store.write { transaction in
                let records = ProviderWebhookRepository(transaction)
                for number in 1...5 {
                    let rests = try records.note(answered: false, by: url, of: id)
                    #expect(rests == (number == 5))
                }
                try records.set("https://new.example/", of: id)
                #expect(try !records.note(answered: false, by: url, of: id))
                return try records.breaker(of: id)
            }
            #expect(breaker == ReceiverBreaker())
        }
    }

    @Test("Forty receivers that do not answer leave places to one that answers")
    func many() async throws {
        try await ServiceFixture.run { fixture in
            for number in 0..<40 { _ = try await provider("down-\(number)", events: 2, in: fixture) }
            let records = { @Sendable (transaction: any Transaction) in
                for entry in try ProviderRepository(transaction).list() where entry.slug.text.hasPrefix("down") {
                    _ = try ProviderWebhookRepository(transaction).note(
                        answered: false, by: "https://\(entry.slug.text).example/", of: entry.id)
                }
            }
            try await fixture.store.write { try records($0) }
            fixture.clock.advance(1)
            _ = try await provider("up", events: 2, in: fixture)
            let leased = try await fixture.store.write {
                try OutboxClaims($0).lease("a", [.providerEvent: 8], for: 30)
            }
            #expect(leased.count == ReceiverBreaker.inFlightToFailing + 2)
        }
    }
}
