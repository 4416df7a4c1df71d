import Foundation

/// A message of a stream, with the number that the service assigned.
public struct StreamMessage: Sendable, Hashable, Codable {
    /// The message's number in the stream, from 1, without gaps.
    public let sequence: Int64
    public let id: UUID
    /// `nil` after the sender's erasure.
    public let sender: UUID?
    public let sentAt: Date
    /// The message that it replies to.
    public let inReplyTo: UUID?
    /// The first message of its thread; `nil` if it is not a reply.
    public let thread: UUID?
    /// Whether it was deleted, for all members or for the user only.
    public let isDeleted: Bool
    private let expired: Bool?
    /// `nil` after its deletion, and in lists if the parts are long.
    public let parts: [MessagePart]?
    /// Metadata that all members see; `nil` if there are none, and in a list of streams.
    public let metadata: MetadataValue?
    /// Metadata that only the user sees; `nil` if there are none, and in a list of streams.
    public let privateMetadata: MetadataValue?

    public init(
        sequence: Int64, id: UUID, sender: UUID?, sentAt: Date, inReplyTo: UUID? = nil, thread: UUID? = nil,
        isDeleted: Bool = false, isExpired: Bool = false, parts: [MessagePart]?, metadata: MetadataValue? = nil,
        privateMetadata: MetadataValue? = nil
    ) {
        expired = isExpired
        (self.sequence, self.id, self.sender, self.sentAt) = (sequence, id, sender, sentAt)
        (self.inReplyTo, self.thread, self.isDeleted, self.parts) = (inReplyTo, thread, isDeleted, parts)
        (self.metadata, self.privateMetadata) = (metadata, privateMetadata)
    }

    /// Whether the service has deleted the parts because the devices have them, or did not fetch them in time. No user
    /// deleted the message.
    public var isExpired: Bool { expired ?? false }

    private enum CodingKeys: String, CodingKey {
        case sequence, id, sender, thread, parts, metadata, expired
        case sentAt = "sent_at"
        case inReplyTo = "in_reply_to"
        case isDeleted = "deleted"
        case privateMetadata = "private_metadata"
    }
}

/// One part of a message.
public struct MessagePart: Sendable, Hashable, Codable {
    /// The media type (RFC 6838 §4.2), without parameters.
    public let type: String
    public let content: Content

    public enum Content: Sendable, Hashable {
        case text(String)
        case bytes(Data)
    }

    public init(_ content: Content, type: String) { (self.type, self.content) = (type, content) }

    public static func text(_ text: String) -> MessagePart { MessagePart(.text(text), type: "text/plain") }

    /// The text of a part that has one.
    public var text: String? { if case .text(let text) = content { text } else { nil } }

    private enum CodingKeys: String, CodingKey {
        case type, body
        case bytes = "body_base64"
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        type = try members.decode(String.self, forKey: .type)
        if let text = try members.decodeIfPresent(String.self, forKey: .body) {
            content = .text(text)
        } else {
            guard let bytes = Data(base64URL: try members.decode(String.self, forKey: .bytes)) else {
                throw DecodingError.dataCorruptedError(forKey: .bytes, in: members, debugDescription: "not base64url")
            }
            content = .bytes(bytes)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(type, forKey: .type)
        switch content {
        case .text(let text): try members.encode(text, forKey: .body)
        case .bytes(let bytes): try members.encode(bytes.base64URL, forKey: .bytes)
        }
    }
}

/// A message to send. A repetition with the same id has no further effect.
public struct NewMessage: Sendable, Hashable, Codable {
    public let id: UUID
    /// 1 to 16, with at most 64 KiB of content in total.
    public let parts: [MessagePart]
    public let inReplyTo: UUID?

    public init(_ parts: [MessagePart], inReplyTo: UUID? = nil, id: UUID = UUID()) {
        (self.id, self.parts, self.inReplyTo) = (id, parts, inReplyTo)
    }

    private enum CodingKeys: String, CodingKey {
        case id, parts
        case inReplyTo = "in_reply_to"
    }
}

/// The service's response to a message.
public struct SentMessage: Sendable, Hashable, Decodable {
    public let sequence: Int64
    public let sentAt: Date
    /// The first message of its thread.
    public let thread: UUID?

    private enum CodingKeys: String, CodingKey {
        case sequence, thread
        case sentAt = "sent_at"
    }
}
