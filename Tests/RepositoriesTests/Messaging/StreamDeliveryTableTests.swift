import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables storage_opt_outs and stream_deliveries")
struct StreamDeliveryTableTests {
    /// A stream of two users with messages that wait for their devices.
    private static func make(_ tables: TestTables, messages: Int64, size: Int64) async throws -> (
        MessageStreamID, UserID
    ) {
        let (stream, eve) = (MessageStreamID(UUID()), try await tables.newUser("eve"))
        let (own, other) = (tables.session(1), tables.session(2, of: eve))
        try await tables.write { transaction in
            let (_, wrapped, version) = try StreamKeyRepository(transaction, keys: tables.keys).generate(for: stream)
            _ = try MessageStreamRepository(transaction).insert(
                MessageStream(
                    id: stream, providerID: tables.provider, kind: .conversation, createdBy: eve,
                    createdAt: TestTables.now), wrapped: wrapped, version: version, opening: [1], metadata: nil)
            for session in [own, other] {
                try StreamMemberRepository(transaction).admit(
                    StreamMember(streamID: stream, userID: session.userID, joinedAt: 0))
                try SessionRepository(transaction).insert(session, at: .first)
            }
            for number in 1...messages {
                try StreamMessageRepository(transaction).insert(
                    StreamMessage(
                        streamID: stream, sequence: number, id: MessageID(UUID()), senderID: eve,
                        sentAt: TestTables.now, inReplyTo: nil, thread: nil, size: size, sealedBody: [1],
                        keptUntil: TestTables.now.addingTimeInterval(Double(number) - 2)))
            }
            _ = try StreamUserRepository(transaction).count(bytes: messages * size, of: eve)
        }
        return (stream, eve)
    }

    @Test("A batch deletes what all devices have and frees the sender's quota", arguments: StoreKind.shared)
    func batches(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (stream, eve) = try await Self.make(tables, messages: 5, size: 1000)
            func report(_ through: Int64, of user: UserID) async throws {
                try await tables.write {
                    try StreamDeliveryRepository($0).report(through, on: tables.device, of: user, in: stream)
                }
            }
            func expire(limit: Int = 1000) async throws -> [Bool] {
                try await tables.write { transaction in
                    let outcome = try StreamDeliveryRepository(transaction).expireDelivered(
                        MaintenanceBatch(limit: limit))
                    let left = try (1...5).map {
                        try StreamMessageRepository(transaction).find($0, in: stream)?.sealedBody != nil
                    }
                    #expect(outcome.isFinished == (outcome.rows == 0))
                    return left
                }
            }
            let none = [true, true, true, true, true]
            #expect(try await tables.read { try StreamDeliveryRepository($0).isAwaited(in: stream, through: 1) })
            try await report(4, of: eve)
            #expect(try await expire() == none)
            try await report(3, of: tables.user)
            try await report(2, of: tables.user)
            // Of the rows of a batch one is the report.
            #expect(try await expire(limit: 3) == [false, false, true, true, true])
            #expect(try await expire() == [false, false, false, true, true])
            #expect(try await expire() == [false, false, false, true, true])
            let (stored, isAwaited) = try await tables.read {
                (
                    try StreamUserRepository($0).storedBytes(of: eve),
                    try StreamDeliveryRepository($0).isAwaited(in: stream, through: 3)
                )
            }
            #expect(stored == 2000 + 3 * StreamMessage.smallestSize && !isAwaited)
            try await tables.write { try StreamDeliveryRepository($0).erase(eve, in: stream) }
            #expect(try await tables.count("stream_deliveries") == 1)
        }
    }

    @Test("A phone without a session is awaited while it has registered for pushes", arguments: StoreKind.shared)
    func asleep(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (stream, eve) = try await Self.make(tables, messages: 1, size: 1)
            let phone = tables.session(7, on: try await tables.newDevice())
            let endpoints = try #require(PushEndpoints(usual: "arn:1", calls: nil))
            try await tables.write { transaction in
                try SessionRepository(transaction).insert(phone, at: .first)
                try PushEndpointRepository(transaction, keys: tables.keys).register(
                    endpoints, by: phone, limit: 8, sessionsExpiredBefore: .distantPast)
                for user in [eve, tables.user] {
                    try StreamDeliveryRepository(transaction).report(1, on: tables.device, of: user, in: stream)
                }
            }
            try await tables.sql("DELETE FROM sessions WHERE id = $1", [.id(phone.id)])
            func delivered() async throws -> Int64 {
                try await tables.read { try StreamDeliveryRepository($0).delivered(in: stream) }
            }
            #expect(try await delivered() == 0)
            try await tables.write {
                try StreamDeliveryRepository($0).report(1, on: phone.deviceID, of: tables.user, in: stream)
            }
            #expect(try await delivered() == 1)
        }
    }

    @Test("What is too old is deleted without a report, oldest first", arguments: StoreKind.shared)
    func old(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (stream, _) = try await Self.make(tables, messages: 5, size: 300)
            let outcomes = try await tables.write { transaction in
                let deliveries = StreamDeliveryRepository(transaction)
                return try [deliveries.expireOld(MaintenanceBatch(limit: 1)), deliveries.expireOld(MaintenanceBatch())]
            }
            // Kept until a second ago; the next one until now.
            #expect(outcomes.map(\.rows) == [1, 0] && outcomes.map(\.isFinished) == [false, true])
            let first = try await tables.read { try StreamMessageRepository($0).find(1, in: stream) }
            #expect(first?.isExpired == true && first?.size == StreamMessage.smallestSize)
        }
    }

    @Test("One present member decides for a stream", arguments: StoreKind.shared)
    func optOuts(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (stream, eve) = try await Self.make(tables, messages: 1, size: 1)
            let found = try await tables.write { transaction in
                let storage = MessageStorageRepository(transaction)
                let made = try [MessageStorage.untilDelivered, .untilDelivered].map {
                    try storage.set($0, of: eve, at: TestTables.now)
                }
                let declined = try storage.isDeclined(in: stream)
                #expect(try storage.declined(among: [tables.user, eve]) == [eve])
                try StreamMemberRepository(transaction).leave(eve, stream, at: 1)
                let left = try storage.isDeclined(in: stream)
                try storage.set(.keep, of: eve, at: TestTables.now)
                return try made + [declined, left, storage.storage(of: eve) == .keep]
            }
            #expect(found == [true, false, true, false, true])
            #expect(try await tables.store.read { try MessageStorageRepository($0).declined() } == [])
        }
    }
}
