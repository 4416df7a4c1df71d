import Crypto
import Database
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing
import Tokens

@testable import Operations

@Suite("Streams of security events")
struct EventStreamTests {
    /// What receivers were given, by URL.
    private final class Given: Sendable {
        private let tokens = Mutex<[String: [String]]>([:])
        private let failing = Mutex(true)

        /// The first attempt at everything fails, if it is to.
        func take(_ delivery: SecurityEventDelivery) -> DeliveryOutcome {
            let isFirst = tokens.withLock { tokens in
                tokens[delivery.url, default: []].append(delivery.token)
                return tokens[delivery.url]?.count == 1
            }
            return isFirst && failing.withLock { $0 } ? .unavailable(reason: "HTTP 503") : .sent(reference: "")
        }

        func succeed() { failing.withLock { $0 = false } }

        /// The claims of what a receiver was given.
        func claims(_ url: String) throws -> [JSONValue] {
            try tokens.withLock { $0[url] ?? [] }.map { token in
                let payload = token.split(separator: ".")[1]
                return try StrictJSON.parse(try #require(Base64URL.decode(Array(payload.utf8)[...])))
            }
        }
    }

    private func loop(_ fixture: ServiceFixture, _ given: Given) -> DeliverOutbox {
        DeliverOutbox(of: fixture.context, events: { given.take($0) })
    }

    /// A stream of a provider, written as a change by a proven request would.
    func stream(
        _ fixture: ServiceFixture, of provider: ProviderID? = nil, pushTo url: String? = nil
    ) async throws -> EventStream {
        let stream = EventStream(
            id: EventStreamID(UUID()), provider: provider ?? fixture.registration.provider.id,
            settings: EventStream.Settings(delivery: url.map { .push($0) } ?? .poll), createdAt: fixture.clock.now,
            approvedURL: url)
        try await fixture.store.write { try EventStreamRepository($0).save(stream) }
        return stream
    }

    /// Ends a session, which is an event.
    func end(_ person: PhoneBench.Person, in fixture: ServiceFixture) async throws {
        _ = try await fixture.admin.endSession(person.session.id)
    }

    func question(immediate: Bool = true) -> EventPoll {
        EventPoll(maximum: nil, isImmediate: immediate, received: [], refused: [])
    }

    @Test("tell each of a hundred receivers of a ban once")
    func hundred() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let (_, id) = (try await bench.phones.person("alice"), fixture.registration.provider.id)
            var urls: [String] = []
            for number in 0..<100 {
                urls.append("https://receiver-\(number).example/")
                _ = try await stream(fixture, of: id, pushTo: urls[number])
            }
            let given = Given()
            given.succeed()
            let deliver = loop(fixture, given)
            try await bench.ban(.user("test/alice"))
            _ = try await deliver()
            _ = try await deliver()
            for url in urls {
                let kinds = try given.claims(url).flatMap { claims -> [String] in
                    guard case .object(let events) = claims["events"] else { return [] }
                    return events.map(\.name)
                }
                #expect(
                    kinds.sorted() == [ProviderEvent.sessionRevokedType, ProviderEvent.accountDisabledType].sorted())
            }
        }
    }

    @Test("carry one id at every attempt, no subject and no expiry, and a reason for administrators")
    func attempts() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let (alice, url) = (try await bench.phones.person("alice"), "https://receiver.example/")
            _ = try await stream(fixture, pushTo: url)
            let given = Given()
            let deliver = loop(fixture, given)
            try await end(alice, in: fixture)
            _ = try await deliver()
            fixture.clock.advance(60)
            _ = try await deliver()
            let claims = try given.claims(url)
            #expect(claims.count == 2 && claims[0] == claims[1])
            let one = try #require(claims.first)
            #expect(one["iss"]?.text == ServiceFixture.urls.issuer && one["sub"] == nil && one["exp"] == nil)
            #expect(one["sub_id"]?["sub"]?.text == alice.session.userID.description)
            #expect(one["external_id"]?.text == "alice" && one["txn"]?.text != nil)
            let reason = one["events"]?[ProviderEvent.sessionRevokedType]?["reason_admin"]?["en"]?.text
            #expect(reason?.isEmpty == false)
        }
    }

    @Test("that hold more than they may are disabled, say so, and hold nothing")
    func full() async throws {
        var policy = Policy()
        policy.webhooks.eventsHeld = 3
        try await ServiceFixture.run(policy) { fixture in
            let bench = try BanBench(fixture)
            let (polled, pushed) = (
                try await stream(fixture), try await stream(fixture, pushTo: "https://receiver.example/")
            )
            for _ in 0..<3 {
                let alice = try await bench.phones.person("alice")
                try await end(alice, in: fixture)
            }
            fixture.clock.advance(60)
            _ = try await fixture.housekeeping()
            let service = fixture.context
            #expect(try await service.readEventStream(polled.id, of: polled.provider).status == .enabled)
            let alice = try await bench.phones.person("alice")
            try await end(alice, in: fixture)
            fixture.clock.advance(60)
            _ = try await fixture.housekeeping()
            for stream in [polled, pushed] {
                let found = try await service.readEventStream(stream.id, of: stream.provider)
                #expect(found.status == .disabled && found.statusReason?.contains("3 events") == true)
            }
            #expect(try await bench.count("outbox", where: "state = 'waiting'") == 2)
            let answer = try await service.pollEvents(question(), of: polled.id, by: try await fixture.backend())
            #expect(answer.tokens.count == 1)
            let given = Given()
            given.succeed()
            _ = try await loop(fixture, given)()
            let told = try #require(try given.claims("https://receiver.example/").first)
            #expect(told["sub_id"]?["id"]?.text == pushed.id.description)
            // Nothing is held any more.
            let bob = try await bench.phones.person("bob")
            try await end(bob, in: fixture)
            #expect(try await bench.count("outbox", where: "state = 'waiting'") == 1)
        }
    }

    @Test("that are full are disabled in a batch each, which deletes the events of one stream")
    func fullStreams() async throws {
        var policy = Policy()
        policy.webhooks.eventsHeld = 1
        try await ServiceFixture.run(policy) { fixture in
            let bench = try BanBench(fixture)
            for _ in 0..<3 { _ = try await stream(fixture) }
            for name in ["alice", "bob"] { try await end(try await bench.phones.person(name), in: fixture) }
            let task = try #require(MaintenanceTask.all(of: fixture.context).first { $0.name == "full_streams" })
            var reached: String?
            for count in 1...3 {
                let batch = MaintenanceBatch(after: reached)
                let outcome = try await fixture.context.maintain { try task.batch($0, batch, &$1) }
                reached = outcome.reached
                #expect(!outcome.isFinished)
                #expect(try await bench.count("event_streams", where: "status = 'disabled'") == Int64(count))
            }
        }
    }

    @Test("keep the header of their receiver sealed, also after a rotation, and send it with each event")
    func header() async throws {
        try await ServiceFixture.run { fixture in
            let secret = "Bearer of-the-receiver"
            let made = try await stream(fixture, pushTo: "https://receiver.example/")
            let keys = fixture.personalKeys
            try await fixture.store.write {
                try EventStreamRepository($0).setAuthorization(Secret(secret), of: made.id, keys: keys)
            }
            let stored = try await fixture.store.read { transaction in
                try transaction.query("SELECT sealed_authorization FROM event_streams").map { try $0.bytes(0) }
            }
            #expect(stored.count == 1 && !String(decoding: stored[0], as: UTF8.self).contains("receiver"))
            let second = SymmetricKey(size: .bits256)
            let both = try PersonalKeys(wrapping: [1: fixture.wrappingKey, 2: second], index: [1: fixture.indexKey])
            let rotation = RotateWrappingKey(fixture.admin, keys: both)
            try await rotation.putInForce()
            #expect(try await rotation.takeLeave(of: [1]).isEmpty)
            _ = try await rotation.rewrap()
            #expect(try await rotation.takeLeave(of: [1]) == [1])
            let late = try PersonalKeys(wrapping: [2: second], index: [1: fixture.indexKey])
            let opened = try await fixture.store.read {
                try EventStreamRepository($0).authorization(of: made.id, keys: late)?.reveal()
            }
            #expect(opened == secret)
        }
    }

    @Test("are sent beside one whose header this node cannot open; its event waits")
    func unreadable() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let sealed = try await stream(fixture, pushTo: "https://sealed.example/")
            _ = try await stream(fixture, pushTo: "https://open.example/")
            let keys = fixture.personalKeys
            try await fixture.store.write {
                try EventStreamRepository($0).setAuthorization(Secret("Bearer x"), of: sealed.id, keys: keys)
                // Sealed by a node that has the next wrapping key already.
                try $0.execute("UPDATE event_streams SET authorization_version = 2 WHERE authorization_version = 1")
            }
            try await end(alice, in: fixture)
            let given = Given()
            given.succeed()
            _ = try await loop(fixture, given)()
            #expect(try given.claims("https://open.example/").count == 1)
            #expect(try given.claims("https://sealed.example/").isEmpty)
            #expect(try await bench.count("outbox", where: "state = 'waiting' AND tries = 1") == 1)
        }
    }

    @Test("take what waits along when the way of delivery changes, and drop it when they are deleted")
    func moved() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let (stream, backend) = (
                try await stream(fixture, pushTo: "https://receiver.example/"), try await fixture.backend()
            )
            try await end(alice, in: fixture)
            let service = fixture.context
            _ = try await service.updateEventStream(
                stream.id, EventStream.Change().whole, by: try await fixture.proof(), allowingLoopback: false)
            #expect(try await service.pollEvents(question(), of: stream.id, by: backend).tokens.count == 1)
            let given = Given()
            _ = try await loop(fixture, given)()
            #expect(try given.claims("https://receiver.example/").isEmpty)
            try await service.deleteEventStream(stream.id, by: try await fixture.proof())
            #expect(try await bench.count("outbox", where: "state = 'waiting'") == 0)
        }
    }

    @Test("are not approved by a proof whose key ended meanwhile, and each change of their status is audited")
    func ended() async throws {
        try await ServiceFixture.run { fixture in
            let (bench, backend) = (try BanBench(fixture), try await fixture.backend())
            let signer = try ProviderSigner(.es256)
            let key = try await fixture.admin.addProviderKey(try signer.verificationKey, to: backend.id)
            try await fixture.watch.poll()
            let proof = try await fixture.proof(of: signer, key)
            try await fixture.admin.revokeProviderKey(key, endingSessions: false)
            var change = EventStream.Change()
            change.delivery = .push("https://receiver.invalid/")
            let (service, wanted) = (fixture.context, change)
            await #expect(throws: Refusal(.providerTokenInvalid, "")) {
                _ = try await service.createEventStream(wanted, proof: proof, by: backend, allowingLoopback: false)
            }
            #expect(try await bench.count("event_streams") == 0)
            let stream = try await service.createEventStream(
                EventStream.Change(), proof: nil, by: backend, allowingLoopback: false)
            let before = try await bench.count("audit_entries", where: "event = 'event_stream_set'")
            for status in EventStream.Status.allCases {
                _ = try await service.setEventStreamStatus(
                    stream.id, status, because: nil, by: try await fixture.proof())
            }
            #expect(try await bench.count("audit_entries", where: "event = 'event_stream_set'") == before + 3)
        }
    }
}
