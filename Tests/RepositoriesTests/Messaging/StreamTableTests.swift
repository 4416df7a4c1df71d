import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables streams, stream_members, stream_events, stream_users and user_changes")
struct StreamTableTests {
    private typealias Made = (stream: MessageStream, key: StreamKey)

    private static func make(
        _ tables: TestTables, kind: MessageStream.Kind = .conversation, members: [UserID] = []
    ) async throws -> Made {
        let stream = MessageStream(
            id: MessageStreamID(UUID()), providerID: tables.provider, kind: kind, createdBy: tables.user,
            createdAt: TestTables.now)
        let key = try await tables.write { transaction in
            let (key, wrapped, version) = try StreamKeyRepository(transaction, keys: tables.keys).generate(
                for: stream.id)
            let streams = MessageStreamRepository(transaction)
            let opening = try key.seal("opening", in: .streamOpening)
            #expect(
                try streams.insert(stream, wrapped: wrapped, version: version, opening: opening, metadata: nil))
            #expect(
                try !streams.insert(stream, wrapped: wrapped, version: version, opening: opening, metadata: nil))
            for member in members {
                try StreamMemberRepository(transaction).admit(
                    StreamMember(streamID: stream.id, userID: member, joinedAt: 0))
            }
            return key
        }
        return (stream, key)
    }

    private static func append(
        _ tables: TestTables, _ made: Made, by user: UserID, _ text: String = "text", size: Int64 = 100
    ) async throws -> StreamMessage {
        let id = MessageID(UUID())
        return try await tables.write { transaction in
            let number = try MessageStreamRepository(transaction).takeNumber(made.stream.id, at: transaction.now)
            let message = StreamMessage(
                streamID: made.stream.id, sequence: try #require(number), id: id, senderID: user,
                sentAt: transaction.now, inReplyTo: nil, thread: nil, size: size,
                sealedBody: try made.key.seal(text, in: .messageBody, of: id))
            try StreamMessageRepository(transaction).insert(message)
            _ = try StreamUserRepository(transaction).count(bytes: size, of: user)
            return message
        }
    }

    @Test("Messages are numbered without gaps and read in both directions", arguments: StoreKind.shared)
    func messages(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let made = try await Self.make(tables, members: [tables.user])
            var sent: [StreamMessage] = []
            for index in 0..<5 { sent.append(try await Self.append(tables, made, by: tables.user, "\(index)")) }
            #expect(sent.map(\.sequence) == [1, 2, 3, 4, 5])
            func list(_ after: Int64, _ before: Int64, _ forward: Bool, _ limit: Int, _ bytes: Int64 = 1000)
                async throws -> ([Int64], Bool)
            {
                let page = try await tables.read {
                    try StreamMessageRepository($0).list(
                        of: made.stream.id, for: tables.user, after: after, before: before, isForward: forward,
                        limit: limit,
                        bytes: bytes)
                }
                return (page.messages.map(\.message.sequence), page.hasMore)
            }
            #expect(try await list(0, .max, true, 3) == ([1, 2, 3], true))
            #expect(try await list(3, .max, true, 3) == ([4, 5], false))
            #expect(try await list(0, 4, false, 2) == ([3, 2], true))
            #expect(try await list(0, 6, true, 10, 250) == ([1, 2], true))
            #expect(try await list(0, 6, true, 10, 1) == ([1], true))
            #expect(try await list(9, .max, true, 10) == ([], false))
            let third = sent[2]
            let (found, other, text) = try await tables.read { transaction in
                let records = StreamMessageRepository(transaction)
                let found = try records.find(third.id, in: made.stream.id)
                let key = try StreamKeyRepository(transaction, keys: tables.keys).find(made.stream.id)
                return (
                    found, try records.find(third.id, in: MessageStreamID(UUID())),
                    try found?.sealedBody.flatMap { try key?.open($0, in: .messageBody, of: third.id) }
                )
            }
            #expect(found == sent[2] && other == nil && text == "2")
            #expect(throws: SealingFailure.notAuthentic) {
                try made.key.open(try #require(sent[2].sealedBody), in: .messageBody, of: sent[1].id)
            }
            let own = try await tables.read {
                let first = try StreamMessageRepository($0).list(sentBy: tables.user, after: nil, limit: 2)
                return first + (try StreamMessageRepository($0).list(sentBy: tables.user, after: first[1], limit: 9))
            }
            #expect(own == sent)
        }
    }

    @Test("A page ends before the first message that is too long for it", arguments: StoreKind.shared)
    func pageEnd(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let made = try await Self.make(tables, members: [tables.user])
            for size in [100, 500, 100] as [Int64] {
                _ = try await Self.append(tables, made, by: tables.user, size: size)
            }
            let page = try await tables.read {
                try StreamMessageRepository($0).list(
                    of: made.stream.id, for: tables.user, after: 0, before: .max, isForward: true, limit: 10,
                    bytes: 400)
            }
            #expect(page.messages.map(\.message.sequence) == [1] && page.hasMore)
        }
    }

    @Test("Members leave, return and raise receipts", arguments: StoreKind.shared)
    func members(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let made = try await Self.make(tables, members: [tables.user, eve])
            let id = made.stream.id
            let states = try await tables.write { transaction in
                let members = StreamMemberRepository(transaction)
                var states: [[UserID]] = [try members.present(in: id)]
                try members.setReceipts((3, 2), of: eve, in: id)
                try members.setMetadata([1], of: eve, in: id)
                try members.leave(eve, id, at: 4)
                try members.leave(eve, id, at: 9)
                states.append(try members.present(in: id))
                #expect(try members.find(eve, in: id)?.leftAt == 4)
                try members.admit(StreamMember(streamID: id, userID: eve, joinedAt: 9))
                states.append(try members.present(in: id))
                return states
            }
            let both = [tables.user, eve].sorted { $0.description < $1.description }
            #expect(states == [both, [tables.user], both])
            let (back, metadata, streams) = try await tables.read { transaction in
                let members = StreamMemberRepository(transaction)
                return (
                    try members.find(eve, in: id), try members.metadata(of: eve, in: id),
                    try members.streams(of: eve, limit: 10)
                )
            }
            let expected = StreamMember(
                streamID: id, userID: eve, joinedAt: 0, deliveredThrough: 3, readThrough: 2)
            #expect(back == expected && metadata == [1] && streams == [expected])
        }
    }

    @Test("A change moves to the end of its user's list, and only there", arguments: StoreKind.shared)
    func changes(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (one, two) = (MessageStreamID(UUID()), MessageStreamID(UUID()))
            let message = MessageID(UUID())
            try await tables.write { transaction in
                let users = StreamUserRepository(transaction)
                try users.note(.newMessage, of: one, for: [tables.user, eve], at: transaction.now)
                try users.note(.newMessage, of: two, for: [tables.user], at: transaction.now)
                try users.note(.deleted, of: one, message, for: [tables.user], at: transaction.now)
                try users.note(.newMessage, of: one, for: [tables.user], at: transaction.now)
            }
            let (all, rest, other, last) = try await tables.read { transaction in
                let users = StreamUserRepository(transaction)
                return (
                    try users.changes(of: tables.user, after: 0, limit: 10),
                    try users.changes(of: tables.user, after: 3, limit: 10),
                    try users.changes(of: eve, after: 0, limit: 10),
                    try users.lastChange(of: tables.user)
                )
            }
            #expect(all.map(\.sequence) == [2, 3, 4] && last == 4)
            #expect(all.map(\.stream) == [two, one, one] && all.map(\.message) == [nil, message, nil])
            #expect(rest.map(\.sequence) == [4] && other.map(\.stream) == [one])
            try await tables.write { transaction in
                let users = StreamUserRepository(transaction)
                try users.forget(one, of: [tables.user])
                try users.purgeDeletions(before: transaction.now.addingTimeInterval(1))
            }
            let left = try await tables.read {
                try StreamUserRepository($0).changes(of: tables.user, after: 0, limit: 10)
            }
            #expect(left.map(\.stream) == [two])
        }
    }

    @Test(
        "A deleted stream has no key, its rows go in batches, and its bytes are given back", arguments: StoreKind.shared
    )
    func deletion(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let made = try await Self.make(tables, members: [tables.user])
            for _ in 0..<5 { _ = try await Self.append(tables, made, by: tables.user) }
            let id = made.stream.id
            let deleted = try await tables.write { transaction in
                let streams = MessageStreamRepository(transaction)
                return [try streams.delete(id, at: transaction.now), try streams.delete(id, at: transaction.now)]
            }
            #expect(deleted == [true, false])
            let (key, found, sealed, number) = try await tables.write { transaction in
                let streams = MessageStreamRepository(transaction)
                return (
                    try StreamKeyRepository(transaction, keys: tables.keys).find(id), try streams.find(id),
                    try streams.sealed(of: id), try streams.takeNumber(id, at: transaction.now)
                )
            }
            #expect(key == nil && found?.deletedAt == TestTables.now && number == nil)
            #expect(sealed.opening == nil && sealed.metadata == nil)
            var batches = 0
            while try await !tables.write({ try MessageStreamRepository($0).empty(MaintenanceBatch(limit: 2)) })
                .isFinished
            {
                batches += 1
                #expect(batches < 10)
            }
            #expect(batches == 3)
            #expect(try await tables.count("stream_events") == 0)
            #expect(try await tables.count("stream_members") == 0)
            #expect(try await tables.count("streams") == 1)
            let bytes = try await tables.write { try StreamUserRepository($0).count(of: tables.user).bytes }
            #expect(bytes == 0)
            #expect(try await tables.read { try MessageStreamRepository($0).deletions().map(\.id) } == [id])
        }
    }

    @Test("An erased user leaves rows without body and sender, and others theirs", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let made = try await Self.make(tables, members: [tables.user, eve])
            let (own, others) = (
                try await Self.append(tables, made, by: tables.user), try await Self.append(tables, made, by: eve)
            )
            try await tables.write { transaction in
                try StreamUserRepository(transaction).note(
                    .newMessage, of: made.stream.id, for: [tables.user, eve], at: transaction.now)
                try StreamMessageRepository(transaction).erase(tables.user)
                try MessageStreamRepository(transaction).erase(createdBy: tables.user)
                let members = StreamMemberRepository(transaction)
                #expect(try members.firstStream(ofErased: tables.user) == made.stream.id)
                try members.erase(tables.user, in: made.stream.id)
                try StreamUserRepository(transaction).erase(tables.user)
            }
            let (left, kept, stream) = try await tables.read { transaction in
                let messages = StreamMessageRepository(transaction)
                return (
                    try messages.find(own.sequence, in: made.stream.id),
                    try messages.find(others.sequence, in: made.stream.id),
                    try MessageStreamRepository(transaction).find(made.stream.id)
                )
            }
            #expect(left?.senderID == nil && left?.sealedBody == nil && left?.sequence == 1)
            #expect(kept == others && stream?.createdBy == nil)
            #expect(try await tables.count("stream_members") == 1)
            #expect(try await tables.count("user_changes") == 1)
        }
    }
}
