import Foundation

/// A stream of messages, as the user sees it.
public struct MessageStream: Sendable, Hashable, Codable {
    public let id: UUID
    public let kind: Kind
    public let state: State
    /// `nil` after that user's erasure.
    public let createdBy: UUID?
    public let createdAt: Date
    public let title: String?
    /// The member `description` of the protocol.
    public let about: String?
    public let imageURL: String?
    /// The number of the last message that the user may see.
    public let lastSequence: Int64
    /// The number of messages after the user's last read one; `nil` in a forum.
    public let unread: Int64?
    public let lastMessage: StreamMessage?
    public let members: [Member]
    private let named: [PublicProfile]?
    /// How long the service stores later messages of the stream; `nil` from a service without this setting.
    public let messageStorage: MessageStorage?
    /// Included if a single stream is requested, and if metadata has changed.
    public let metadata: MetadataValue?
    public let privateMetadata: MetadataValue?

    /// The kind of a stream. A later version of the service may have others.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Between two users with a permission.
        public static let direct = Kind(rawValue: "direct")
        /// Between up to 25 users.
        public static let conversation = Kind(rawValue: "conversation")
        /// Open to all users of the provider.
        public static let forum = Kind(rawValue: "forum")
    }

    public struct State: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let open = State(rawValue: "open")
        /// The permission between the two users has ended.
        public static let closed = State(rawValue: "closed")
        /// The user was removed, and sees no later messages.
        public static let left = State(rawValue: "left")
    }

    /// The profiles of the members, of the creator, and of the sender of the last message.
    public var profiles: [PublicProfile] { members.compactMap(\.profile) + (named ?? []) }

    /// A member as other members see it.
    public struct Member: Sendable, Hashable, Codable {
        public let userID: UUID
        private let address: String?
        public let displayName: String?
        public let initials: String?
        public let pictureURL: URL?
        public let assurance: Assurance
        public let deliveredThrough: Int64
        /// The last message that the member has read, never beyond ``deliveredThrough``.
        public let readThrough: Int64

        /// `nil` in a closed stream.
        public var profile: PublicProfile? {
            address.map {
                PublicProfile(
                    userID: userID, address: $0, displayName: displayName, initials: initials, pictureURL: pictureURL)
            }
        }

        private enum CodingKeys: String, CodingKey {
            case address, initials, assurance
            case userID = "user_id"
            case displayName = "display_name"
            case pictureURL = "picture_url"
            case deliveredThrough = "delivered_through"
            case readThrough = "read_through"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, kind, state, title, unread, members, metadata
        case named = "profiles"
        case createdBy = "created_by"
        case createdAt = "created_at"
        case about = "description"
        case imageURL = "image_url"
        case lastSequence = "last_sequence"
        case lastMessage = "last_event"
        case privateMetadata = "private_metadata"
        case messageStorage = "message_storage"
    }
}

/// How long the service stores messages.
public struct MessageStorage: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Until a user deletes them or their stream.
    public static let keep = MessageStorage(rawValue: "keep")
    /// Until all active devices of all members have them.
    public static let untilDelivered = MessageStorage(rawValue: "until_delivered")
}

/// A stream to open. A repetition with the same id has no further effect.
public struct StreamOpening: Sendable, Hashable, Codable {
    public let id: UUID
    public let kind: MessageStream.Kind
    /// The other members, each by user id or by address.
    public let members: [String]
    public let title: String?
    public let about: String?
    public let imageURL: String?
    public let metadata: MetadataValue?

    public init(
        _ kind: MessageStream.Kind, members: [String], title: String? = nil, about: String? = nil,
        imageURL: String? = nil, metadata: MetadataValue? = nil, id: UUID = UUID()
    ) {
        (self.id, self.kind, self.members, self.title) = (id, kind, members, title)
        (self.about, self.imageURL, self.metadata) = (about, imageURL, metadata)
    }

    private enum CodingKeys: String, CodingKey {
        case id, kind, members, title, metadata
        case about = "description"
        case imageURL = "image_url"
    }
}
