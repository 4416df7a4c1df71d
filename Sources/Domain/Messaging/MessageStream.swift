import Encoding
import Foundation

/// A stream of messages between users of one provider: an append-only list, in which each message has a number.
///
/// It is no stream of security events, which is an ``EventStream``.
package struct MessageStream: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Between two users, one of whom has permitted it: see ``MessagingPermission``.
        case direct
        /// Between up to 25 users, each of whom adds and removes others.
        case conversation
        /// Open to all users of the provider; it has no members.
        case forum
        /// What two users need to find each other's devices for a call: an offer and an answer. See ``CallTurn``.
        case call

        /// Whether it is between two users, one of whom has permitted it.
        package var isBetweenTwo: Bool { self == .direct || self == .call }
    }

    package let id: MessageStreamID
    package let providerID: ProviderID
    package let kind: Kind
    /// Who opened it; `nil` after that user's erasure.
    package let createdBy: UserID?
    package let createdAt: Date
    /// When its key was deleted, and everything in it with the key.
    package var deletedAt: Date?
    /// The number of its last message; 0 if there is none.
    package var lastSequence: Int64

    /// Memberwise, from a stored row or for a new stream.
    package init(
        id: MessageStreamID, providerID: ProviderID, kind: Kind, createdBy: UserID?, createdAt: Date,
        deletedAt: Date? = nil, lastSequence: Int64 = 0
    ) {
        self.id = id
        self.providerID = providerID
        self.kind = kind
        self.createdBy = createdBy
        self.createdAt = createdAt
        self.deletedAt = deletedAt
        self.lastSequence = lastSequence
    }

    /// Members at the same time.
    package static let maximumMembers = 25
    /// Members ever: a stream that is deleted is deleted for each of them.
    package static let maximumMembersEver = 200
}

/// A user in a stream, now or before, and how far the user has come in it.
package struct StreamMember: Sendable, Equatable {
    package let streamID: MessageStreamID
    package let userID: UserID
    /// The last message before the user joined. Members see the earlier ones, too.
    package let joinedAt: Int64
    /// The last message that the user sees who was removed; `nil` for a member.
    package var leftAt: Int64?
    /// The last message that reached a device of the user.
    package var deliveredThrough: Int64
    /// The last message that the user has read; never beyond ``deliveredThrough``.
    package var readThrough: Int64

    package init(
        streamID: MessageStreamID, userID: UserID, joinedAt: Int64, leftAt: Int64? = nil, deliveredThrough: Int64 = 0,
        readThrough: Int64 = 0
    ) {
        self.streamID = streamID
        self.userID = userID
        self.joinedAt = joinedAt
        self.leftAt = leftAt
        self.deliveredThrough = deliveredThrough
        self.readThrough = readThrough
    }

    /// The receipts after a report of the user's device. Both numbers only rise, and neither exceeds the last message.
    package func receipts(delivered: Int64?, read: Int64?, last: Int64) -> (delivered: Int64, read: Int64) {
        let readThrough = max(readThrough, min(read ?? 0, last))
        return (max(deliveredThrough, min(delivered ?? 0, last), readThrough), readThrough)
    }
}

/// A message as it is stored. Its body is sealed under the stream's key.
package struct StreamMessage: Sendable, Equatable {
    package let streamID: MessageStreamID
    /// Its number in the stream, from 1.
    package let sequence: Int64
    package let id: MessageID
    /// `nil` after the sender's erasure.
    package let senderID: UserID?
    package let sentAt: Date
    /// The message that it replies to.
    package let inReplyTo: MessageID?
    /// The message that began its thread; `nil` for one that is no reply.
    package let thread: MessageID?
    /// What a quota counts for a message at least, bytes: its row has a size, too, even after it was deleted.
    package static let smallestSize: Int64 = 256

    /// Bytes of the body, as the sender's quota counts them.
    package let size: Int64
    /// `nil` once it was deleted.
    package let sealedBody: [UInt8]?

    /// Memberwise, from a stored row or for a new message.
    package init(
        streamID: MessageStreamID, sequence: Int64, id: MessageID, senderID: UserID?, sentAt: Date,
        inReplyTo: MessageID?, thread: MessageID?, size: Int64, sealedBody: [UInt8]?
    ) {
        self.streamID = streamID
        self.sequence = sequence
        self.id = id
        self.senderID = senderID
        self.sentAt = sentAt
        self.inReplyTo = inReplyTo
        self.thread = thread
        self.size = size
        self.sealedBody = sealedBody
    }
}

/// What a user's devices learn by synchronization. The raw values are the contract's.
package enum UserChange: String, Sendable, CaseIterable {
    /// A stream is new, or has a new message.
    case newMessage = "NEW_MESSAGE"
    /// A member's receipts have risen.
    case updateStatus = "UPDATE_STATUS"
    /// Shared or private metadata have changed.
    case updateTags = "UPDATE_TAGS"
    /// A member was added or removed.
    case members = "MEMBERS"
    /// A message or a whole stream was deleted.
    case deleted = "DELETED"
    /// A member's account was erased: the bodies of that member's messages are gone, and who sent them.
    case erased = "ERASED"
    /// The user's provider has something to say.
    case notification = "NOTIFICATION"
}

/// Streams of messages: `Policies/streams.yaml`.
package struct MessageStreamPolicy: Sendable, Equatable {
    /// Whom a user may open a conversation with, or add to one.
    package enum Requirement: String, Sendable, CaseIterable {
        /// Users with whom the user has an approved authorization.
        case authorization
        /// All users of the provider, unless they block the user.
        case provider
    }

    package var conversationRequires = Requirement.authorization
    /// The level that a user needs to write in a conversation or a forum.
    package var requiredLevel = Assurance.phone
    /// Streams that one user may have open.
    package var streamsPerUser = 1000
    /// Changes that one user may make in a minute, of whatever kind.
    package var writesPerMinute = 120
    /// Readings of streams and synchronizations under one certificate in a minute, on each node.
    package var readsPerMinute = 600
    /// Bytes of messages that are stored for one sender.
    package var storedBytes = 16_777_216
    /// How long a synchronization waits for a change at most.
    package var pollWait: TimeInterval = 25
    /// Synchronizations of one user that wait at the same time, on each node.
    package var waitingPolls = 8
    /// Notifications that a provider may send to one user in a minute.
    package var notificationsPerMinute = 60
    /// Notifications that a provider may send to all of its users in a minute, on each node.
    package var notificationsPerProvider = 6000

    package init() {}
}
