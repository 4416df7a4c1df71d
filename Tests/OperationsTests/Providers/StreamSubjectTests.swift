import Authority
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Users in streams of security events, and receivers that are gone")
struct StreamSubjectTests {
    /// Ends the only session of a user, which is an event.
    private func end(_ person: PhoneBench.Person, in fixture: ServiceFixture) async throws {
        _ = try await fixture.admin.endSession(person.session.id)
    }

    private func made(_ fixture: ServiceFixture) async throws -> EventStream {
        try await fixture.context.createEventStream(
            EventStream.Change(), proof: nil, by: try await fixture.backend(), allowingLoopback: false)
    }

    private func polled(_ fixture: ServiceFixture, _ stream: EventStream) async throws -> [JSONValue] {
        let question = EventPoll(maximum: nil, isImmediate: true, received: [], refused: [])
        let answer = try await fixture.context.pollEvents(question, of: stream.id, by: try await fixture.backend())
        return try answer.tokens.map { _, token in
            let payload = token.split(separator: ".")[1]
            return try StrictJSON.parse(try #require(Base64URL.decode(Array(payload.utf8)[...])))
        }
    }

    private func users(_ fixture: ServiceFixture, _ stream: EventStream) async throws -> [String] {
        try await polled(fixture, stream).compactMap { $0["external_id"]?.text }.sorted()
    }

    @Test("A user who is removed has no events in that stream, and has them again when added; each change is audited")
    func removed() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let (left, other) = (try await made(fixture), try await made(fixture))
            let (service, backend) = (fixture.context, try await fixture.backend())
            let ours = SubjectIdentifier.user(
                issuer: ServiceFixture.urls.issuer, subject: alice.session.userID.description)
            try await service.removeEventSubject(ours, from: left.id, by: try await fixture.proof())
            // A second time changes nothing.
            try await service.removeEventSubject(ours, from: left.id, by: try await fixture.proof())
            try await end(alice, in: fixture)
            let bob = try await bench.phones.person("bob")
            try await end(bob, in: fixture)
            #expect(try await users(fixture, left) == ["bob"])
            #expect(try await users(fixture, other) == ["alice", "bob"])
            let theirs = SubjectIdentifier.user(issuer: backend.id.description, subject: "alice")
            try await service.addEventSubject(theirs, to: left.id, by: backend)
            let again = try await bench.phones.person("alice")
            try await end(again, in: fixture)
            #expect(try await users(fixture, left) == ["alice", "bob"])
            let entries = try await bench.count("audit_entries", where: "event LIKE 'event_subject_%'")
            #expect(entries == 3)
        }
    }

    @Test("Nobody is removed by what names no user of the provider's alone, or in another provider's stream")
    func foreign() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let stream = try await made(fixture)
            let service = fixture.context
            for subject in [
                SubjectIdentifier.other, .email("nobody"),
                .user(issuer: "https://other.example", subject: "alice"),
                .user(issuer: UUID().uuidString.lowercased(), subject: "alice"),
                .user(issuer: ServiceFixture.urls.issuer, subject: UUID().uuidString.lowercased()),
            ] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await service.removeEventSubject(subject, from: stream.id, by: try await fixture.proof())
                }
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await service.removeEventSubject(
                    .email("alice"), from: EventStreamID(UUID()), by: try await fixture.proof())
            }
            try await end(alice, in: fixture)
            #expect(try await users(fixture, stream) == ["alice"])
        }
    }

    @Test("What a stream leaves out goes with the stream, and with the user")
    func forgotten() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let (one, two) = (try await made(fixture), try await made(fixture))
            let service = fixture.context
            for stream in [one, two] {
                try await service.removeEventSubject(.email("alice"), from: stream.id, by: try await fixture.proof())
            }
            #expect(try await bench.count("event_stream_exclusions") == 2)
            try await service.deleteEventStream(one.id, by: try await fixture.proof())
            #expect(try await bench.count("event_stream_exclusions") == 1)
            try await fixture.store.write { try EventSubjectRepository($0).erase(alice.session.userID) }
            #expect(try await bench.count("event_stream_exclusions") == 0)
        }
    }

    @Test(
        "A stream whose receiver sends no request for too long is disabled and says so, and one that is polled is not")
    func inactive() async throws {
        var policy = Policy()
        policy.webhooks.inactivityTimeout = 200
        try await ServiceFixture.run(policy) { fixture in
            let (attended, left, unknown) = (
                try await made(fixture), try await made(fixture), try await made(fixture)
            )
            // As one of before the operator set a time.
            try await fixture.store.write { try EventStreamRepository($0).setActive(nil, of: unknown.id) }
            fixture.clock.advance(150)
            #expect(try await polled(fixture, attended).isEmpty)
            fixture.clock.advance(100)
            _ = try await fixture.housekeeping()
            func status(_ stream: EventStream) async throws -> EventStream.Status? {
                try await fixture.store.read { try EventStreamRepository($0).find(stream.id)?.status }
            }
            #expect(try await status(attended) == .enabled)
            #expect(try await status(left) == .disabled)
            #expect(try await status(unknown) == .enabled)
            let events = try await polled(fixture, left)
            #expect(events.count == 1)
            let updated = events.first?["events"]?[StreamEvent.updatedType]
            #expect(updated?["status"]?.text == "disabled" && updated?["reason"]?.text?.contains("200 s") == true)
            fixture.clock.advance(260)
            _ = try await fixture.housekeeping()
            #expect(try await status(unknown) == .disabled)
        }
    }

    @Test("Without such a time no stream is disabled, however long its receiver is away, and no clock runs")
    func untimed() async throws {
        try await ServiceFixture.run { fixture in
            let stream = try await made(fixture)
            fixture.clock.advance(86_400)
            _ = try await fixture.housekeeping()
            let found = try await fixture.store.read { try EventStreamRepository($0).find(stream.id) }
            #expect(found?.status == .enabled && found?.activeAt == nil)
        }
    }

    @Test("Each user on a device hears once that its certificate was revoked, however many there are")
    func everybody() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let stream = try await made(fixture)
            let (session, count) = (alice.session, 2 * NotifyOfRevocation.atOnce + 5)
            try await Self.plant(count - 1, like: session, in: fixture.store)
            _ = try await fixture.admin.revokeDevice(session.deviceID, reason: .superseded)
            #expect(try await Self.heard(of: stream, in: fixture.store).count == NotifyOfRevocation.atOnce)
            #expect(try await bench.count("certificate_notices") == Int64(count - NotifyOfRevocation.atOnce))
            fixture.clock.advance(60)
            _ = try await fixture.housekeeping()
            #expect(try await bench.count("certificate_notices") == 0)
            let heard = try await Self.heard(of: stream, in: fixture.store)
            #expect(heard.count == count && Set(heard).count == count)
        }
    }

    /// Whose change of a credential the stream is about to send.
    private static func heard(of stream: EventStream, in store: any Database) async throws -> [String] {
        try await store.read { transaction in
            try transaction.query(
                "SELECT user_id, payload FROM outbox WHERE subject = $1", [.text(stream.id.description)]
            )
            .filter { String(decoding: try $0.bytes(1), as: UTF8.self).contains("credential-change") }
            .map { try $0.text(0) }
        }
    }

    /// Users of the provider with a session each on one device.
    private static func plant(_ count: Int, like session: Session, in store: any Database) async throws {
        try await store.write { transaction in
            for number in 0..<count {
                let (id, name) = (UserID(UUID()), "planted-\(number)")
                try UserRepository(transaction).enqueueInsert(
                    User(
                        id: id, providerID: session.providerID, externalID: name, assurance: .none,
                        createdAt: session.createdAt))
                try SessionRepository(transaction).insert(
                    Session(
                        id: SessionID(UUID()), tokenHash: .of("planted \(number)"), userID: id,
                        providerID: session.providerID, externalID: name, applicationID: session.applicationID,
                        deviceID: session.deviceID, thumbprint: session.thumbprint,
                        providerKeyID: session.providerKeyID, state: .authenticated, createdAt: session.createdAt,
                        renewedAt: session.renewedAt, lastUsedAt: session.lastUsedAt, challengedAt: nil),
                    at: .first)
            }
        }
    }
}
