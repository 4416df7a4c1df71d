import CountersignClient
import Foundation

/// A change of the user that the service has not confirmed yet. Each may be sent twice.
enum OutboundEvent: Sendable, Hashable, Codable {
    case open(StreamOpening)
    case append(NewMessage, stream: UUID)
    case read(through: Int64, stream: UUID)
    case add(user: UUID, stream: UUID)
    case remove(user: UUID, stream: UUID)
    /// A merge patch (RFC 7396).
    case share(MetadataValue, stream: UUID)
    case keep(MetadataValue, stream: UUID)
    case deleteMessage(UUID, stream: UUID)
    case deleteStream(UUID)

    var stream: UUID {
        switch self {
        case .open(let opening): opening.id
        case .append(_, let stream), .read(_, let stream), .add(_, let stream), .remove(_, let stream),
            .share(_, let stream), .keep(_, let stream), .deleteMessage(_, let stream), .deleteStream(let stream):
            stream
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
        case .share: "metadata"
        case .keep: "private metadata"
        case .deleteMessage(let message, _): "delete \(message.text)"
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
        case .share(let patch, let stream): _ = try await streams.merge(patch, .shared, into: stream)
        case .keep(let patch, let stream): _ = try await streams.merge(patch, .own, into: stream)
        case .deleteMessage(let message, let stream): try await streams.delete(message, in: stream)
        case .deleteStream(let stream): try await streams.delete(stream)
        }
        return nil
    }
}

extension UUID {
    var text: String { uuidString.lowercased() }
}
