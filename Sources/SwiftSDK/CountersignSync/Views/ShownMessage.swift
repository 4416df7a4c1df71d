import CountersignClient
import Foundation

/// A message as a view shows it.
public struct ShownMessage: Sendable, Hashable, Identifiable {
    public let id: UUID
    public let stream: UUID
    /// `nil` until the service has it.
    public let sequence: Int64?
    public let sender: UUID?
    /// What the sender shows of itself; `nil` after the sender's erasure, and before the service was asked.
    public let author: PublicProfile?
    /// Whether the user wrote it, so that views can show it on its own side.
    public let isOwn: Bool
    public let sentAt: Date
    public let inReplyTo: UUID?
    /// The first message of its thread; its own id if it is not a reply.
    public let thread: UUID
    public let isDeleted: Bool
    public let parts: [MessagePart]
    /// The status of an own message; `nil` for another user's.
    public let status: MessageStatus?
    /// Metadata that all members see, with the user's unconfirmed changes.
    public let metadata: MetadataValue
    /// Metadata that only the user sees.
    public let privateMetadata: MetadataValue

    public init(
        id: UUID, stream: UUID, sequence: Int64?, sender: UUID?, author: PublicProfile? = nil, isOwn: Bool,
        sentAt: Date, inReplyTo: UUID? = nil, thread: UUID? = nil, isDeleted: Bool = false, parts: [MessagePart] = [],
        status: MessageStatus? = nil, metadata: MetadataValue = .object([:]),
        privateMetadata: MetadataValue = .object([:])
    ) {
        (self.id, self.stream, self.sequence, self.sender, self.author) = (id, stream, sequence, sender, author)
        (self.isOwn, self.sentAt, self.inReplyTo, self.thread) = (isOwn, sentAt, inReplyTo, thread ?? id)
        (self.isDeleted, self.parts, self.status) = (isDeleted, parts, status)
        (self.metadata, self.privateMetadata) = (metadata, privateMetadata)
    }

    /// The texts of its parts, one a line.
    public var text: String { parts.compactMap(\.text).joined(separator: "\n") }
}

/// The progress of an own message: sent, delivered, then read. It never goes back.
public enum MessageStatus: Sendable, Hashable {
    case waiting
    /// The service refused it, with a code or with the state that does not allow it.
    case refused(String)
    case sent
    /// It has reached a device of each other member.
    case delivered
    /// Each other member has read it.
    case read

    /// By the numbers of the other members.
    ///
    /// - Parameters:
    ///   - sequence: the message's number; `nil` if it has none yet.
    ///   - others: the progress of the other members; empty in a forum.
    public static func of(_ sequence: Int64?, refusal: String?, others: [Participant]) -> MessageStatus {
        guard let sequence else { return refusal.map { .refused($0) } ?? .waiting }
        guard !others.isEmpty else { return .sent }
        if others.allSatisfy({ $0.readThrough >= sequence }) { return .read }
        return others.allSatisfy { $0.deliveredThrough >= sequence } ? .delivered : .sent
    }
}

/// A member of a conversation, for views.
public struct Participant: Sendable, Hashable, Identifiable {
    public let id: UUID
    /// The member's name and picture; `nil` before the service was asked.
    public let profile: PublicProfile?
    public let assurance: Assurance
    public let deliveredThrough: Int64
    public let readThrough: Int64

    public init(
        id: UUID, profile: PublicProfile? = nil, assurance: Assurance = .none, deliveredThrough: Int64,
        readThrough: Int64
    ) {
        (self.id, self.profile, self.assurance) = (id, profile, assurance)
        (self.deliveredThrough, self.readThrough) = (deliveredThrough, readThrough)
    }

    /// The status of a message for this member.
    public func status(of sequence: Int64) -> MessageStatus {
        MessageStatus.of(sequence, refusal: nil, others: [self])
    }
}
