import CountersignClient
import Foundation

/// A change of the user that the service has not confirmed yet. Each may be sent twice.
enum OutboundEvent: Sendable, Hashable, Codable {
    case open(StreamOpening)
    case append(NewMessage, stream: UUID)
    case read(through: Int64, stream: UUID)
    case add(user: UUID, stream: UUID)
    case remove(user: UUID, stream: UUID)
    /// A merge patch (RFC 7396) for metadata that all members see, of a message or of the stream.
    case share(MetadataValue, message: UUID? = nil, stream: UUID)
    case keep(MetadataValue, message: UUID? = nil, stream: UUID)
    case deleteMessage(UUID, stream: UUID)
    case deleteForMe(UUID, stream: UUID)
    case deleteStream(UUID)

    var stream: UUID {
        switch self {
        case .open(let opening): opening.id
        case .append(_, let stream), .read(_, let stream), .add(_, let stream), .remove(_, let stream),
            .share(_, _, let stream), .keep(_, _, let stream), .deleteMessage(_, let stream),
            .deleteForMe(_, let stream), .deleteStream(let stream):
            stream
        }
    }

    /// The message that it sends or changes; `nil` if it changes the stream.
    var message: UUID? {
        switch self {
        case .append(let message, _): message.id
        case .share(_, let message, _), .keep(_, let message, _): message
        case .deleteMessage(let message, _), .deleteForMe(let message, _): message
        case .open, .read, .add, .remove, .deleteStream: nil
        }
    }

    /// The patch of metadata; `nil` for other events.
    var patch: MetadataValue? {
        switch self {
        case .share(let patch, _, _), .keep(let patch, _, _): patch
        default: nil
        }
    }

    /// The event's name: a later event with this name replaces an unconfirmed one. A message has its id, by which it is
    /// recognized when the service returns it.
    var name: String {
        switch self {
        case .open: "open"
        case .append(let message, _): message.id.text
        case .read: "read"
        case .add(let user, _), .remove(let user, _): "member \(user.text)"
        case .share(_, nil, _): "metadata"
        case .share(_, let message?, _): "metadata \(message.text)"
        case .keep(_, nil, _): "private metadata"
        case .keep(_, let message?, _): "private metadata \(message.text)"
        case .deleteMessage(let message, _), .deleteForMe(let message, _): "delete \(message.text)"
        case .deleteStream: "delete"
        }
    }

    /// Makes the call, and returns the service's response to a message.
    func publish(to streams: Streams) async throws(Refusal) -> SentMessage? {
        switch self {
        case .open(let opening): try await streams.open(opening)
        case .append(let message, let stream): return try await streams.append(message, to: stream)
        case .read(let sequence, let stream):
            _ = try await streams.acknowledge(deliveredThrough: sequence, readThrough: sequence, in: stream)
        case .add(let user, let stream): try await streams.add(user, to: stream)
        case .remove(let user, let stream): try await streams.remove(user, from: stream)
        case .share(let patch, let message, let stream): try await streams.merge(patch, .shared, message, stream)
        case .keep(let patch, let message, let stream): try await streams.merge(patch, .own, message, stream)
        case .deleteMessage(let message, let stream): try await streams.delete(message, in: stream)
        case .deleteForMe(let message, let stream): try await streams.deleteForMe(message, in: stream)
        case .deleteStream(let stream): try await streams.delete(stream)
        }
        return nil
    }
}

extension Streams {
    /// Merges a patch into the metadata of a message, or of the stream if there is none.
    fileprivate func merge(
        _ patch: MetadataValue, _ visibility: Visibility, _ message: UUID?, _ stream: UUID
    ) async throws(Refusal) {
        if let message {
            try await merge(patch, visibility, into: message, in: stream)
        } else {
            try await merge(patch, visibility, into: stream)
        }
    }
}

extension UUID {
    var text: String { uuidString.lowercased() }
}
