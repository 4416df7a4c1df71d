import Encoding
import Foundation

/// A stream of messages between users of one provider: an append-only list of numbered messages.
///
/// Streams of security events are ``EventStream``s.
package struct MessageStream: Sendable, Equatable {
    package let id: MessageStreamID
    package let providerID: ProviderID
    package let kind: Kind
    /// The user who opened it; `nil` after that user's erasure.
    package let createdBy: UserID?
    package let createdAt: Date
    /// When its key was deleted, which makes all messages unreadable.
    package var deletedAt: Date?
    /// The number of its last message; 0 if there is none.
    package var lastSequence: Int64

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
}

package extension MessageStream {
    enum Kind: String, Sendable, CaseIterable {
        /// Between two users with an approved ``MessagingPermission``.
        case direct
        /// Between up to 25 users. Each may add and remove others.
        case conversation
        /// Open to all users of the provider; it has no members.
        case forum
        /// Lets two users' devices connect to each other for a call: an offer and an answer. See `CallTurn`, of Operations.
        case call

        /// Whether it is between two users with an approved ``MessagingPermission``.
        package var isBetweenTwo: Bool { self == .direct || self == .call }
    }

    /// The largest number of members at a time.
    static let maximumMembers = 25
    /// The largest number of past and present members, because a stream is deleted for each of them.
    static let maximumMembersEver = 200
}

/// A present or past member of a stream, and how far the user has read it.
package struct StreamMember: Sendable, Equatable {
    package let streamID: MessageStreamID
    package let userID: UserID
    /// The number of the last message before the user joined. Members can read the earlier messages too.
    package let joinedAt: Int64
    /// The number of the last message that a removed user can read; `nil` for a member.
    package var leftAt: Int64?
    /// The number of the last message that reached a device of the user.
    package var deliveredThrough: Int64
    /// The number of the last message that the user has read; never beyond ``deliveredThrough``.
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

    /// The receipts after a device reported them. Both numbers only rise, and neither exceeds the last message.
    package func receipts(delivered: Int64?, read: Int64?, last: Int64) -> (delivered: Int64, read: Int64) {
        let readThrough = max(readThrough, min(read ?? 0, last))
        return (max(deliveredThrough, min(delivered ?? 0, last), readThrough), readThrough)
    }
}

/// A message as it is stored. Its body is encrypted under the stream's key.
package struct StreamMessage: Sendable, Equatable {
    package let streamID: MessageStreamID
    /// Its number in the stream, from 1.
    package let sequence: Int64
    package let id: MessageID
    /// The sender; `nil` after that user's erasure.
    package let senderID: UserID?
    package let sentAt: Date
    /// The message that it replies to.
    package let inReplyTo: MessageID?
    /// The first message of its thread; `nil` if it is not a reply.
    package let thread: MessageID?

    /// Bytes of the body, as the sender's quota counts them.
    package let size: Int64
    /// The body; `nil` after the message was deleted or has expired.
    package let sealedBody: [UInt8]?
    /// When the body is deleted even if a device lacks it; `nil` for a message that is kept.
    package let keptUntil: Date?

    package init(
        streamID: MessageStreamID, sequence: Int64, id: MessageID, senderID: UserID?, sentAt: Date,
        inReplyTo: MessageID?, thread: MessageID?, size: Int64, sealedBody: [UInt8]?, keptUntil: Date? = nil
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
        self.keptUntil = keptUntil
    }
}

package extension StreamMessage {
    /// The smallest size in bytes of a message in a quota: a deleted message still has a row.
    static let smallestSize: Int64 = 256

    /// Whether the body was deleted because the devices have it, or could have fetched it. No user deleted the message.
    var isExpired: Bool { sealedBody == nil && keptUntil != nil }
}

/// A change that synchronization reports to a user's devices. The raw values are the contract's.
package enum UserChange: String, Sendable, CaseIterable {
    /// A stream is new, or has a new message.
    case newMessage = "NEW_MESSAGE"
    /// A member's receipts have risen.
    case updateStatus = "UPDATE_STATUS"
    /// Shared or private metadata of a stream or a message changed.
    case updateTags = "UPDATE_TAGS"
    /// A member was added or removed.
    case members = "MEMBERS"
    /// A message was deleted, for all or for the user only, or a whole stream.
    case deleted = "DELETED"
    /// A member's account was erased, with the bodies and the sender of that member's messages.
    case erased = "ERASED"
    /// The user's provider sent a notification.
    case notification = "NOTIFICATION"
}

/// Limits of message streams: `Policies/streams.yaml`.
package struct MessageStreamPolicy: Sendable, Equatable {
    package var conversationRequires = Requirement.authorization
    package var members = MemberDisclosure.names
    /// The level that a user needs to write in a conversation or a forum.
    package var requiredLevel = Assurance.phone
    /// The largest number of streams that a user may have.
    package var streamsPerUser = 1000
    /// Changes of any kind that a user may make in a minute.
    package var writesPerMinute = 120
    /// Reads and synchronizations that a certificate may make in a minute, on each node.
    package var readsPerMinute = 600
    /// The largest number of bytes stored for the messages of one user, and for the metadata of messages.
    package var storedBytes = 16_777_216
    /// How long a message is kept for devices that lack it, if a member's messages are not stored.
    package var undeliveredMessages: TimeInterval = 30 * 86_400
    /// The longest time that a synchronization waits for a change.
    package var pollWait: TimeInterval = 25
    /// Synchronizations of one user that may wait at the same time, on each node.
    package var waitingPolls = 8
    /// Notifications that a provider may send to one user in a minute.
    package var notificationsPerMinute = 60
    /// Notifications that a provider may send to all of its users in a minute, on each node.
    package var notificationsPerProvider = 6000
    /// Whether users see who is online.
    package var presence = PresenceSharing.on
    /// The names in metadata by whose values streams can be listed.
    package var indexedMetadata: [String] = []

    init() {}
}

package extension MessageStreamPolicy {
    /// The users that a user may add to a conversation, also when opening it.
    enum Requirement: String, Sendable, CaseIterable {
        /// Users who have an approved authorization with the user.
        case authorization
        /// All users of the provider, unless they block the user.
        case provider
    }

    /// What users see of each other in streams.
    enum MemberDisclosure: String, Sendable, CaseIterable {
        /// Only user id, address and level.
        case ids
        /// Also the display name, the picture and the initials of users from the level ``Assurance/phone``.
        case names
    }

    /// Whether the presence of users is shared.
    enum PresenceSharing: String, Sendable, CaseIterable {
        /// With users who may write to them, unless they hide it.
        case on
        /// Everybody looks offline, and nothing is stored.
        case off
    }

    /// The largest number of indexed names, and of values in one filter.
    static let maximumIndexedMetadata = 8

    /// Whether a name may be indexed. Its characters need no encoding in a query.
    static func isIndexable(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-._~".utf8.contains(byte)
                }
            }
    }
}
