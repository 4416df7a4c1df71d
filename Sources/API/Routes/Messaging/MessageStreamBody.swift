import Domain
import Encoding
import Operations

/// The JSON forms of streams, messages and operations.
enum MessageStreamBody {
    static func row(_ view: MessageStreamView) -> JSONValue {
        let stream = view.stream
        return .object([
            "id": .id(stream.id), "kind": .string(stream.kind.rawValue), "state": .string(view.state.rawValue),
            "created_by": stream.createdBy.map { .id($0) } ?? .null, "created_at": .string(stream.createdAt.rfc3339),
            "title": view.opening?["title"] ?? .null, "description": view.opening?["description"] ?? .null,
            "image_url": view.opening?["image_url"] ?? .null, "last_sequence": .integer(view.lastSequence),
            "unread": view.unread.map { .integer($0) } ?? .null,
            "last_event": view.lastMessage.map(message) ?? .null, "members": .array(view.members.map(member)),
            "profiles": .array(view.profiles.map(\.json)), "message_storage": .string(view.storage.rawValue),
            "metadata": view.metadata?.value, "private_metadata": view.privateMetadata?.value,
        ])
    }

    private static func member(_ one: MessageStreamView.Member) -> JSONValue {
        let profile = one.profile
        return .object([
            "user_id": .id(one.member.userID), "address": .text(profile?.address),
            "display_name": .text(profile?.displayName), "initials": .text(profile?.initials),
            "picture_url": .text(profile?.pictureURL),
            "assurance": .string((profile?.assurance ?? .none).rawValue),
            "delivered_through": .integer(one.member.deliveredThrough),
            "read_through": .integer(one.member.readThrough),
        ])
    }

    static func message(_ view: Service.MessageView) -> JSONValue {
        let message = view.message
        return .object([
            "sequence": .integer(message.sequence), "id": .id(message.id),
            "sender": message.senderID.map { .id($0) } ?? .null, "sent_at": .string(message.sentAt.rfc3339),
            "in_reply_to": message.inReplyTo.map { .id($0) } ?? .null,
            "thread": message.thread.map { .id($0) } ?? .null,
            "deleted": .bool(message.sealedBody == nil && !message.isExpired), "expired": .bool(message.isExpired),
            "parts": view.parts ?? .null, "metadata": view.metadata?.value,
            "private_metadata": view.privateMetadata?.value,
        ])
    }

    static func operation(_ one: Service.SyncOperation) -> JSONValue {
        .object([
            "operation": .string(one.change.rawValue),
            "stream_id": one.notification == nil ? .id(one.stream) : .null,
            "event_id": one.message.map { .id($0) } ?? .null, "stream": one.view.map(row) ?? .null,
            "event": one.metadata.map(metadata) ?? .null,
            "notification": one.notification.map { $0.content.json(sentAt: $0.sentAt) } ?? .null,
        ])
    }

    private static func metadata(_ view: MessageMetadataView) -> JSONValue {
        .object([
            "sequence": .integer(view.sequence), "metadata": view.shared.value, "private_metadata": view.own.value,
        ])
    }

    static func typing(_ notice: TypingNotices.Notice) -> JSONValue {
        .object(["stream_id": .id(notice.stream), "user_id": .id(notice.user)])
    }
}

extension PublicProfile {
    /// What the profile shows, without the level.
    var json: JSONValue {
        .object([
            "user_id": .id(userID), "address": .string(address), "display_name": .text(displayName),
            "initials": .text(initials), "picture_url": .text(pictureURL),
        ])
    }
}
