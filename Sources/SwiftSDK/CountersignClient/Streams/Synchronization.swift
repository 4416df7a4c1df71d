import Foundation
import HTTPTypes

/// The changes in the user's streams since an anchor.
public struct SyncPage: Sendable, Hashable, Decodable {
    /// The anchor for the next call.
    public let anchor: String
    /// Whether the next call returns at once.
    public let hasMore: Bool
    public let operations: [SyncOperation]
    /// Notifications of the user's provider, oldest first.
    public let notifications: [ProviderNotification]
    /// Members who are writing now. This is not stored, so no anchor returns to it.
    public let typing: [Typing]
    /// The users that the call watches, as they are now.
    public let presence: [UserPresence]

    /// A member who is writing.
    public struct Typing: Sendable, Hashable, Decodable {
        public let stream: UUID
        public let user: UUID

        private enum CodingKeys: String, CodingKey {
            case stream = "stream_id"
            case user = "user_id"
        }
    }

    public init(
        anchor: String, hasMore: Bool, operations: [SyncOperation], notifications: [ProviderNotification] = [],
        typing: [Typing] = [], presence: [UserPresence] = []
    ) {
        (self.anchor, self.hasMore, self.operations) = (anchor, hasMore, operations)
        (self.notifications, self.typing, self.presence) = (notifications, typing, presence)
    }

    /// One operation of the protocol: a change of a stream, or a notification.
    private enum Entry: Decodable {
        case change(SyncOperation)
        case notification(ProviderNotification)

        private enum CodingKeys: String, CodingKey {
            case notification
        }

        init(from decoder: any Decoder) throws {
            let found = try decoder.container(keyedBy: CodingKeys.self)
                .decodeIfPresent(ProviderNotification.self, forKey: .notification)
            self = try found.map { .notification($0) } ?? .change(SyncOperation(from: decoder))
        }

        var change: SyncOperation? { if case .change(let change) = self { change } else { nil } }
        var notification: ProviderNotification? { if case .notification(let one) = self { one } else { nil } }
    }

    private enum CodingKeys: String, CodingKey {
        case anchor, operations, typing, presence
        case hasMore = "more"
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        anchor = try members.decode(String.self, forKey: .anchor)
        hasMore = try members.decode(Bool.self, forKey: .hasMore)
        let entries = try members.decode([Entry].self, forKey: .operations)
        operations = entries.compactMap(\.change)
        notifications = entries.compactMap(\.notification)
        typing = try members.decodeIfPresent([Typing].self, forKey: .typing) ?? []
        presence = try members.decodeIfPresent([UserPresence].self, forKey: .presence) ?? []
    }
}

/// A change. It supersedes an earlier one of the same kind, for the same stream or message.
public struct SyncOperation: Sendable, Hashable, Decodable {
    public let kind: Kind
    public let streamID: UUID
    /// The message that was deleted, or whose metadata changed; `nil` for a change of the stream.
    public let messageID: UUID?
    /// The stream's current state; `nil` if it was deleted, and for a change of a message.
    public let stream: MessageStream?
    /// The message's current metadata; `nil` unless they changed.
    public let messageMetadata: MessageMetadata?

    /// The metadata of a message, of both visibilities.
    public struct MessageMetadata: Sendable, Hashable, Decodable {
        /// The message's number in the stream.
        public let sequence: Int64
        public let metadata: MetadataValue
        public let privateMetadata: MetadataValue

        public init(sequence: Int64, metadata: MetadataValue, privateMetadata: MetadataValue) {
            (self.sequence, self.metadata, self.privateMetadata) = (sequence, metadata, privateMetadata)
        }

        private enum CodingKeys: String, CodingKey {
            case sequence, metadata
            case privateMetadata = "private_metadata"
        }
    }

    /// A later version of the service may have others. Treat them like ``members``.
    public struct Kind: RawRepresentable, Sendable, Hashable, Decodable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The stream is new to the user, or has new messages.
        public static let newMessage = Kind(rawValue: "NEW_MESSAGE")
        /// A member's receipts have risen.
        public static let updateStatus = Kind(rawValue: "UPDATE_STATUS")
        /// Metadata of the stream or of a message changed.
        public static let updateTags = Kind(rawValue: "UPDATE_TAGS")
        public static let members = Kind(rawValue: "MEMBERS")
        /// A message was deleted, for all members or for the user only, or a whole stream.
        public static let deleted = Kind(rawValue: "DELETED")
        /// A member's account was erased, with the bodies of that member's messages.
        public static let erased = Kind(rawValue: "ERASED")
    }

    public init(
        _ kind: Kind, _ streamID: UUID, message: UUID? = nil, stream: MessageStream? = nil,
        metadata: MessageMetadata? = nil
    ) {
        (self.kind, self.streamID, messageID, self.stream) = (kind, streamID, message, stream)
        messageMetadata = metadata
    }

    private enum CodingKeys: String, CodingKey {
        case stream
        case kind = "operation"
        case streamID = "stream_id"
        case messageID = "event_id"
        case messageMetadata = "event"
    }
}

extension Streams {
    /// The longest wait for a change, in seconds.
    public static let longestWait = 25

    /// Reads the changes since an anchor, and waits for one if there are none.
    ///
    /// - Parameters:
    ///   - anchor: from the previous response. `0` returns the current state of everything, `latest` only an anchor.
    ///   - seconds: the maximum wait, up to 25. The user is online while the call waits.
    ///   - watched: up to 50 users whose presence is returned. The wait also ends when one of them comes online or goes
    ///     offline. Such a call goes over HTTP.
    public func synchronize(
        since anchor: String = "0", wait seconds: Int = 0, presenceOf watched: [UUID] = []
    ) async throws(Refusal) -> SyncPage {
        let wait = min(max(0, seconds), Self.longestWait)
        let query = [("anchor", anchor), ("wait", "\(wait)"), ("presence", Self.list(watched))]
        var call = Call(.get, Self.path("/sync", query))
        call.wait = .seconds(wait)
        return try await client.perform(call)
    }
}

/// The messages of a stream as they arrive: each once, in order.
public struct StreamEvents: AsyncSequence, Sendable {
    public typealias Element = StreamMessage
    public typealias Failure = Refusal
    let streams: Streams
    let stream: UUID
    let after: Int64
    let pause: Duration?

    public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

    /// Reads page by page, then waits for the next message. It ends when its task is cancelled, or with a refusal.
    public struct Iterator: AsyncIteratorProtocol {
        private let events: StreamEvents
        private var sequence: Int64
        private var anchor: String?
        private var rest: [StreamMessage] = []

        init(events: StreamEvents) { (self.events, sequence) = (events, events.after) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> StreamMessage? {
            let (streams, stream) = (events.streams, events.stream)
            while rest.isEmpty {
                // The anchor is read before the first page, so that no message is missed.
                if anchor == nil, events.pause == nil {
                    anchor = try await streams.synchronize(since: "latest").anchor
                }
                let page = try await streams.messages(in: stream, after: sequence)
                rest = page.messages.reversed()
                sequence = page.messages.last?.sequence ?? sequence
                if rest.isEmpty { try await wait(isolation: actor) }
            }
            return rest.popLast()
        }

        private mutating func wait(isolation actor: isolated (any Actor)?) async throws(Refusal) {
            guard let present = anchor else {
                do { try await Task.sleep(for: events.pause ?? .seconds(1)) } catch { throw .cancelled }
                return
            }
            var isOurs = false
            var next = present
            while !isOurs {
                let page = try await events.streams.synchronize(since: next, wait: Streams.longestWait)
                next = page.anchor
                isOurs = page.operations.contains { [stream = events.stream] in $0.streamID == stream }
            }
            anchor = next
        }
    }
}
