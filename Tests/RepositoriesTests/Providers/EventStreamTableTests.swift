import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables event_streams and event_stream_exclusions")
struct EventStreamTableTests {
    static func stream(_ provider: ProviderID, pushTo url: String? = nil) -> EventStream {
        EventStream(
            id: EventStreamID(UUID()), provider: provider,
            settings: EventStream.Settings(
                delivery: url.map { .push($0) } ?? .poll, requested: [ProviderEvent.sessionRevokedType, "urn:x"],
                description: "one", algorithm: .es256, subjectForm: .complex),
            createdAt: TestTables.now, approvedURL: url)
    }

    @Test("A stream is stored as it is, changed and removed", arguments: StoreKind.shared)
    func life(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var (polled, pushed) = (
                Self.stream(tables.provider), Self.stream(tables.provider, pushTo: "https://a.example/")
            )
            let made = [polled, pushed]
            try await tables.write { transaction in
                for stream in made { try EventStreamRepository(transaction).save(stream) }
            }
            let listed = try await tables.read { try EventStreamRepository($0).list(of: tables.provider) }
            #expect(Set(listed.map(\.id)) == [polled.id, pushed.id])
            for stream in made { #expect(listed.contains(stream)) }
            polled.set(.disabled, because: "full")
            pushed.settings.requested = nil
            pushed.verifiedAt = TestTables.now
            let changed = [polled, pushed]
            try await tables.write { transaction in
                for stream in changed { try EventStreamRepository(transaction).save(stream) }
            }
            let found = try await tables.read { transaction in
                try changed.map { try EventStreamRepository(transaction).find($0.id) }
            }
            #expect(found == changed)
            let receivers = try await tables.read { try EventStreamRepository($0).receivers(of: tables.provider) }
            #expect(receivers.map(\.id) == [changed[1].id] && !receivers[0].isPolled && receivers[0].wants("urn:y"))
            try await tables.write { try EventStreamRepository($0).remove(changed[0].id) }
            #expect(try await tables.count("event_streams") == 1)
        }
    }

    @Test(
        "Events of a stream that is paused are not leased, and its receiver rests by itself",
        arguments: StoreKind.shared)
    func leases(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (url, user) = ("https://a.example/", tables.user)
            var stream = Self.stream(tables.provider, pushTo: url)
            let made = stream
            try await tables.write { transaction in
                let streams = EventStreamRepository(transaction)
                try streams.save(made)
                try streams.enqueue(
                    OutboxMessageID(UUID()), .happened(.accountDisabled), of: user, in: .init(made), cause: "x")
            }
            stream.set(.paused, because: nil)
            let paused = stream
            try await tables.write { try EventStreamRepository($0).save(paused) }
            func leased() async throws -> Int {
                try await tables.write { try OutboxClaims($0).lease("a", [.providerEvent: 8], for: 30).count }
            }
            #expect(try await leased() == 0)
            try await tables.write { transaction in
                let streams = EventStreamRepository(transaction)
                try streams.save(made)
                for number in 1...5 {
                    let rests = try streams.note(answered: false, by: url, of: made.id)
                    #expect((rests == made.provider) == (number == 5))
                }
            }
            #expect(try await leased() == 0)
            try await tables.write { _ = try EventStreamRepository($0).note(answered: true, by: url, of: made.id) }
            #expect(try await leased() == 1)
        }
    }

    @Test(
        "What waits in a polled stream is read in its order, ended once, and moved or dropped as a whole",
        arguments: StoreKind.shared)
    func queue(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (stream, user) = (Self.stream(tables.provider), tables.user)
            try await tables.write { transaction in
                let streams = EventStreamRepository(transaction)
                try streams.save(stream)
                for event in [
                    StreamEvent.happened(.accountDisabled), .verification(state: "s"), .updated(.enabled, reason: nil),
                ] {
                    try streams.enqueue(
                        OutboxMessageID(UUID()), event, of: user, in: .init(stream), cause: "x")
                }
            }
            let waiting = try await tables.read { try StreamQueueRepository($0, of: stream.id).waiting(limit: 9) }
            #expect(waiting.count == 3 && waiting.allSatisfy { StreamEvent.parse($0.payload)?.cause == "x" })
            let first = waiting[0].id
            let answers = try await tables.write { transaction in
                let queue = StreamQueueRepository(transaction, of: stream.id)
                let stranger = StreamQueueRepository(transaction, of: EventStreamID(UUID()))
                return [
                    try stranger.refuse(first, because: "x"), try queue.refuse(first, because: "x"),
                    try queue.refuse(first, because: "x"), try queue.holdsMore(than: 2), try queue.holdsMore(than: 1),
                ]
            }
            #expect(answers == [false, true, false, false, true])
            let moved = try await tables.write { transaction in
                let queue = StreamQueueRepository(transaction, of: stream.id)
                try queue.move(toPoll: false)
                let left = try queue.waiting(limit: 9).count
                try queue.move(toPoll: true)
                let back = try queue.waiting(limit: 9).count
                try queue.clear()
                return [left, back, try queue.waiting(limit: 9).count]
            }
            #expect(moved == [0, 2, 0])
        }
    }

    @Test("A stream leaves out whom its receiver removed, up to a number", arguments: StoreKind.shared)
    func exclusions(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (stream, other) = (Self.stream(tables.provider), Self.stream(tables.provider))
            let user = tables.user
            let answers = try await tables.write { transaction in
                let (streams, subjects) = (EventStreamRepository(transaction), EventSubjectRepository(transaction))
                for one in [stream, other] { try streams.save(one) }
                for _ in 0..<2 { try subjects.exclude(user, from: stream.id) }
                try subjects.exclude(UserID(UUID()), from: stream.id)
                let leaving = try streams.receivers(of: tables.provider).filter(\.leavesSubjectsOut).map(\.id)
                #expect(leaving == [stream.id])
                return [
                    try subjects.isExcluded(user, from: stream.id), try subjects.isExcluded(user, from: other.id),
                    try subjects.excludes(2, from: stream.id), try subjects.excludes(3, from: stream.id),
                ]
            }
            #expect(answers == [true, false, true, false])
            let left = try await tables.write { transaction in
                let subjects = EventSubjectRepository(transaction)
                try subjects.restore(user, to: stream.id)
                let restored = try subjects.isExcluded(user, from: stream.id)
                try subjects.clear(stream.id)
                try subjects.exclude(user, from: other.id)
                try subjects.erase(user)
                return restored
            }
            #expect(!left)
            #expect(try await tables.count("event_stream_exclusions") == 0)
            try await tables.write { try EventStreamRepository($0).setActive(TestTables.now, of: stream.id) }
            let found = try await tables.read { try EventStreamRepository($0).find(stream.id) }
            #expect(found?.activeAt == TestTables.now)
        }
    }

    @Test("A provider with many streams takes no turn of another's, which has one", arguments: StoreKind.shared)
    func turns(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let other = ProviderID(UUID())
            let slug = try #require(Slug("other"))
            let user = tables.user
            let many = (0..<6).map { Self.stream(tables.provider, pushTo: "https://a.example/\($0)") }
            let one = Self.stream(other, pushTo: "https://b.example/")
            try await tables.write { transaction in
                _ = try ProviderRepository(transaction).insert(
                    Provider(
                        id: other, slug: slug, name: "Other", account: nil, avatarHosts: [],
                        createdAt: TestTables.now, disabledAt: nil))
                let streams = EventStreamRepository(transaction)
                for stream in many + [one] {
                    try streams.save(stream)
                    for _ in 0..<3 {
                        try streams.enqueue(
                            OutboxMessageID(UUID()), .happened(.accountDisabled), of: user, in: .init(stream),
                            cause: "x")
                    }
                }
            }
            // Whatever their ids are, it comes with the first of the others.
            let leased = try await tables.write { try OutboxClaims($0).lease("a", [.providerEvent: 4], for: 30) }
            #expect(leased.count == 4 && leased.count { $0.subject == one.id.description } == 2)
        }
    }

    @Test("The breaker of a receiver is kept when its stream is changed, and begins anew with another address")
    func breaker() async throws {
        try await TestTables.run(.sqlite) { tables in
            let (url, user) = ("https://a.example/", tables.user)
            var stream = Self.stream(tables.provider, pushTo: url)
            func save(_ stream: EventStream) async throws -> Int {
                try await tables.write { transaction in
                    try EventStreamRepository(transaction).save(stream)
                    return try OutboxClaims(transaction).lease("a", [.providerEvent: 8], for: 30).count
                }
            }
            let made = stream
            try await tables.write { transaction in
                let streams = EventStreamRepository(transaction)
                try streams.save(made)
                try streams.enqueue(
                    OutboxMessageID(UUID()), .happened(.accountDisabled), of: user, in: .init(made), cause: "x")
                for _ in 0..<5 { _ = try streams.note(answered: false, by: url, of: made.id) }
            }
            let failing = try await tables.read { try EventStreamRepository($0).deliveries(of: tables.provider) }
            #expect(failing.map(\.stream) == [made.id] && failing.map(\.failures) == [5])
            #expect(failing.first?.waitingSince == TestTables.now && failing.first?.pausedUntil != nil)
            stream.settings.description = "two"
            #expect(try await save(stream) == 0)
            stream.settings.delivery = .push("https://b.example/")
            stream.approvedURL = "https://b.example/"
            #expect(try await save(stream) == 1)
        }
    }
}
