import Database
import Domain
import Encoding
import Foundation
import Repositories

/// The user's own messages in streams, and the data that the service stores about the user in them, for the export.
struct ExportedMessages: Sendable, Confidential {
    /// The user's own messages that were not deleted, oldest first. Messages of other users are not included.
    let messages: [Service.MessageView]
    /// The streams of which the user is or was a member, with the user's private metadata.
    let streams: [(member: StreamMember, metadata: StreamMetadata)]
    /// The user's private metadata of messages.
    let metadata: [(message: MessageMetadataRepository.Exported, metadata: StreamMetadata)]
    /// Notifications from the user's provider that wait for the user's devices.
    let notifications: [(content: UserNotification, sentAt: Date)]

    /// The maximum number of streams. The number of messages is limited by the user's quota of bytes.
    private static let maximumStreams = 10_000
    private static let page = 500

    static func collect(
        _ user: UserID, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> ExportedMessages {
        var opened: [MessageStreamID: StreamKey?] = [:]
        var messages: [Service.MessageView] = []
        var mark: StreamMessage?
        while true {
            let page = try StreamMessageRepository(transaction).list(sentBy: user, after: mark, limit: Self.page)
            for message in page {
                let key =
                    try opened[message.streamID]
                    ?? StreamKeyRepository(transaction, keys: keys).find(message.streamID)
                opened[message.streamID] = key
                if let key { messages.append(try Service.MessageView(message, key)) }
            }
            mark = page.last
            if page.count < Self.page { break }
        }
        let streams = try StreamMemberRepository(transaction).streams(of: user, limit: maximumStreams).map {
            ($0, try StreamMetadata.kept($0.streamID, of: user, keys, in: transaction))
        }
        return ExportedMessages(
            messages: messages, streams: streams, metadata: try metadata(of: user, keys: keys, in: transaction),
            notifications: try NotificationRepository(transaction, keys: keys).list(of: user))
    }

    /// The number of these messages is limited by the user's quota of bytes.
    private static func metadata(
        of user: UserID, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> [(message: MessageMetadataRepository.Exported, metadata: StreamMetadata)] {
        let (repository, key) = (
            MessageMetadataRepository(transaction), try DataKeyRepository(transaction, keys: keys).find(user)
        )
        var found: [(message: MessageMetadataRepository.Exported, metadata: StreamMetadata)] = []
        while true {
            let rows = try repository.list(of: user, after: found.last?.message, limit: page)
            for row in rows {
                found.append((row, try StreamMetadata.own(row.sealed, of: row.message, in: row.stream, user, key)))
            }
            if rows.count < page { return found }
        }
    }

    var metadataJSON: JSONValue {
        .array(
            metadata.map { message, metadata in
                .object([
                    "stream_id": .string(message.stream.description), "sequence": .integer(message.sequence),
                    "id": .string(message.message.description), "private_metadata": metadata.value,
                ])
            })
    }

    var notificationsJSON: JSONValue { .array(notifications.map { $0.content.json(sentAt: $0.sentAt) }) }

    var messagesJSON: JSONValue {
        .array(
            messages.map { view in
                .object([
                    "stream_id": .string(view.message.streamID.description),
                    "sequence": .integer(view.message.sequence), "id": .string(view.message.id.description),
                    "sent_at": .string(view.message.sentAt.rfc3339), "parts": view.parts ?? .null,
                ])
            })
    }

    var streamsJSON: JSONValue {
        .array(
            streams.map { member, metadata in
                .object([
                    "stream_id": .string(member.streamID.description),
                    "left": .bool(member.leftAt != nil), "delivered_through": .integer(member.deliveredThrough),
                    "read_through": .integer(member.readThrough), "private_metadata": metadata.value,
                ])
            })
    }
}
