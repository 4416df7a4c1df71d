import CountersignClient
import Foundation
import GRDB
import Testing

@testable import CountersignSync

extension LocalStoreTests {
    private static func tags(_ value: Int64, _ name: String = "a") -> MetadataValue { .object([name: .integer(value)]) }

    private static func tagged(
        _ message: StreamMessage, _ shared: MetadataValue, _ own: MetadataValue = .object([:])
    ) -> SyncOperation {
        let found = SyncOperation.MessageMetadata(sequence: message.sequence, metadata: shared, privateMetadata: own)
        return SyncOperation(.updateTags, stream, message: message.id, metadata: found)
    }

    /// A store with two fetched messages. The first has metadata.
    private func fetched() async throws -> (LocalStreams, [StreamMessage]) {
        let local = try await local()
        let messages = [
            StreamMessage(
                sequence: 1, id: UUID(), sender: Self.bob, sentAt: Self.now, parts: [.text("one")],
                metadata: Self.tags(1), privateMetadata: Self.tags(2, "p")),
            Self.message(2, "two"),
        ]
        try await take([SyncOperation(.newMessage, Self.stream, stream: try Self.row(2))], local, to: "a.1")
        let page = try Self.page(messages, last: 2)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        return (local, messages)
    }

    private func shown(_ message: UUID, _ local: LocalStreams) async throws -> ShownMessage {
        try #require(try await local.thread(message, in: Self.stream).first)
    }

    private func pending(_ local: LocalStreams) async throws -> [Reconciler.Unpublished] {
        try await local.write { store in
            try store.reconcileOutbound()
            return try store.pending()
        }
    }

    @Test("shows metadata of messages with the user's changes on top, and sends the differences")
    func metadata() async throws {
        let (local, messages) = try await fetched()
        let id = messages[0].id
        #expect(try await shown(id, local).metadata == Self.tags(1))
        #expect(try await shown(id, local).privateMetadata == Self.tags(2, "p"))
        #expect(try await shown(messages[1].id, local).metadata == .object([:]))
        #expect(try await count("syncable_changes", local) == 0)
        try await local.merge(Self.tags(5, "b"), into: id, in: Self.stream)
        try await local.set(.object([:]), .own, of: id, in: Self.stream)
        #expect(try await count("syncable_changes", local) == 2)
        // Another device changes another name meanwhile.
        try await take([Self.tagged(messages[0], Self.tags(9), Self.tags(2, "p"))], local, to: "a.2")
        #expect(try await shown(id, local).metadata == .object(["a": .integer(9), "b": .integer(5)]))
        #expect(try await shown(id, local).privateMetadata == .object([:]))
        let events = try await pending(local)
        #expect(
            events.map(\.event) == [
                .share(Self.tags(5, "b"), message: id, stream: Self.stream),
                .keep(.object(["p": .null]), message: id, stream: Self.stream),
            ])
        // A refusal shows what the service has.
        try await local.write { try $0.confirm(events[0], nil) }
        try await local.write { try $0.refuse(events[1], "full") }
        #expect(try await shown(id, local).metadata == .object(["a": .integer(9), "b": .integer(5)]))
        #expect(try await shown(id, local).privateMetadata == Self.tags(2, "p"))
        #expect(try await local.isReconciled())
        try await take([Self.tagged(messages[0], Self.tags(5, "b"))], local, to: "a.3")
        #expect(try await shown(id, local).metadata == Self.tags(5, "b"))
        #expect(try await shown(id, local).privateMetadata == .object([:]))
        #expect(try await count("syncable_changes", local) == 0)
    }

    @Test("keeps unsent metadata of messages that are fetched again, and ignores those of unknown messages")
    func fetchedAgain() async throws {
        let (local, messages) = try await fetched()
        try await local.merge(Self.tags(5, "b"), into: messages[0].id, in: Self.stream)
        try await take([Self.tagged(Self.message(9, "later"), Self.tags(1))], local, to: "a.2")
        let row = try Self.row(2)
        try await take([SyncOperation(.newMessage, Self.stream, stream: row)], local, to: "b.1", hasMore: true)
        #expect(try await texts(local) == [])
        let page = try Self.page(messages, last: 2)
        try await local.write { try $0.take(page, of: Self.stream, .newest) }
        #expect(try await shown(messages[0].id, local).metadata == .object(["a": .integer(1), "b": .integer(5)]))
        #expect(try await pending(local).count == 1)
    }

    @Test("deletes a message for the user only, and shows it again if the service refuses")
    func deletedForUser() async throws {
        let (local, messages) = try await fetched()
        try await local.deleteForMe(messages[0].id, in: Self.stream)
        try await local.delete(messages[1].id, in: Self.stream)
        #expect(try await texts(local) == ["", ""])
        #expect(try await shown(messages[0].id, local).metadata == .object([:]))
        let events = try await pending(local)
        #expect(
            events.map(\.event) == [
                .deleteForMe(messages[0].id, stream: Self.stream), .deleteMessage(messages[1].id, stream: Self.stream),
            ])
        for event in events { try await local.write { try $0.refuse(event, "not_found") } }
        #expect(try await texts(local) == ["two", "one"])
        #expect(try await shown(messages[0].id, local).metadata == Self.tags(1))
        #expect(try await local.messages(matching: "one").count == 1)
        // The deletion on another device.
        try await local.deleteForMe(messages[0].id, in: Self.stream)
        try await take([SyncOperation(.deleted, Self.stream, message: messages[0].id)], local, to: "a.2")
        for event in try await pending(local) { try await local.write { try $0.refuse(event, "closed") } }
        #expect(try await texts(local) == ["two", ""])
        #expect(try await local.isReconciled())
    }
}
