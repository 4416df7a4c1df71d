import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables stream_event_metadata and stream_event_readers")
struct MessageMetadataTableTests {
    /// A stream with a message; the stream's key.
    private static func make(_ tables: TestTables) async throws -> (message: StreamMessage, key: StreamKey) {
        try await tables.write { [keys = tables.keys] transaction in
            let stream = MessageStream(
                id: MessageStreamID(UUID()), providerID: tables.provider, kind: .conversation, createdBy: tables.user,
                createdAt: TestTables.now)
            let (key, wrapped, version) = try StreamKeyRepository(transaction, keys: keys).generate(for: stream.id)
            _ = try MessageStreamRepository(transaction).insert(
                stream, wrapped: wrapped, version: version, opening: try key.seal("opening", in: .streamOpening),
                metadata: nil)
            _ = try MessageStreamRepository(transaction).takeNumber(stream.id, at: transaction.now)
            let id = MessageID(UUID())
            let message = StreamMessage(
                streamID: stream.id, sequence: 1, id: id, senderID: tables.user, sentAt: transaction.now,
                inReplyTo: nil, thread: nil, size: 256, sealedBody: try key.seal("text", in: .messageBody, of: id))
            try StreamMessageRepository(transaction).insert(message)
            return (message, key)
        }
    }

    @Test("open what was sealed for the same stream, message and user, and nothing else", arguments: StoreKind.shared)
    func places(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (message, key) = try await Self.make(tables)
            let (id, stream, user) = (message.id, message.streamID, tables.user)
            let shared = try key.seal("shared", in: .messageMetadata, of: id)
            #expect(try key.open(shared, in: .messageMetadata, of: id) == "shared")
            #expect(throws: SealingFailure.notAuthentic) {
                try key.open(shared, in: .messageMetadata, of: MessageID(UUID()))
            }
            #expect(throws: SealingFailure.notAuthentic) { try key.open(shared, in: .messageBody, of: id) }
            let own = try await tables.write { try DataKeyRepository($0, keys: tables.keys).findOrCreate(user) }
            let sealed = try own.sealMetadata("own", of: id, in: stream, for: user)
            #expect(try own.openMetadata(sealed, of: id, in: stream, for: user) == "own")
            for (otherID, otherStream, otherUser) in [
                (MessageID(UUID()), stream, user), (id, MessageStreamID(UUID()), user), (id, stream, UserID(UUID())),
            ] {
                #expect(throws: SealingFailure.notAuthentic) {
                    try own.openMetadata(sealed, of: otherID, in: otherStream, for: otherUser)
                }
            }
        }
    }

    @Test("are read with the messages, whose pages they count in", arguments: StoreKind.shared)
    func pages(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            let (message, _) = try await Self.make(tables)
            try await tables.write { transaction in
                let metadata = MessageMetadataRepository(transaction)
                try metadata.setShared([1, 2], of: message, by: tables.user)
                try metadata.setShared([3], of: message, by: eve)
                try metadata.setOwn([4], of: message, for: eve)
            }
            func page(_ user: UserID) async throws -> StreamMessageRepository.Read? {
                try await tables.read {
                    try StreamMessageRepository($0).list(
                        of: message.streamID, for: user, after: 0, before: .max, isForward: true, limit: 2, bytes: 1
                    ).messages.first
                }
            }
            let (own, other) = (try #require(try await page(eve)), try #require(try await page(tables.user)))
            #expect(own.message == message && own.shared == [3] && own.own == [4])
            #expect(other.message == message && other.shared == [3] && other.own == nil)
            try await tables.write { try MessageMetadataRepository($0).deleteCopy(of: message, for: eve) }
            let gone = try #require(try await page(eve))
            #expect(gone.message.sealedBody == nil && gone.own == nil && gone.message.senderID == tables.user)
            #expect(try await page(tables.user)?.message == message)
            let released = try await tables.write {
                try MessageMetadataRepository($0).deleteAll(ofMessage: message.sequence, in: message.streamID)
            }
            #expect(released == [eve: 256])
            #expect(try await page(eve)?.message == message)
        }
    }

    @Test("are found by indexes, however many there are", arguments: StoreKind.shared)
    func plans(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let plans = StatementPlans(kind)
            let (message, _) = try await Self.make(tables)
            let user = tables.user
            try await tables.store.write { transaction in
                let transaction = plans.recording(transaction)
                let metadata = MessageMetadataRepository(transaction)
                try metadata.setShared([1], of: message, by: user)
                try metadata.setOwn([1], of: message, for: user)
                _ = try (metadata.shared(of: message), metadata.own(of: message, for: user))
                _ = try StreamMessageRepository(transaction).list(
                    of: message.streamID, for: user, after: 0, before: .max, isForward: true, limit: 9, bytes: 1000)
                _ = try StreamPageRepository(transaction, keys: tables.keys).find(
                    [message.streamID], for: user, longest: 9)
                _ = try metadata.changed(of: user, from: 0, through: 9)
                _ = try metadata.list(of: user, after: nil, limit: 9)
                _ = try metadata.deletedCopies()
                try metadata.setOwn(nil, of: message, for: user)
                _ = try metadata.deleteAll(ofMessage: message.sequence, in: message.streamID)
                _ = try metadata.delete(of: message.streamID, limit: 9)
                try metadata.erase(user)
                try StreamMessageRepository(transaction).erase(user)
            }
            try await plans.requireNoScan(tables.store)
        }
    }
}
