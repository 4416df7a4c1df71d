import CountersignClient
import Foundation
import GRDB

extension LocalStreams {
    /// Changes the metadata of a message, such as reactions. ``ShownMessage/metadata`` are the shown ones.
    ///
    /// - Parameter metadata: an object that replaces the shown one. Only differences are sent, so that changes of other
    ///   names on other devices stay.
    public func set(
        _ metadata: MetadataValue, _ visibility: Streams.Visibility = .shared, of message: UUID, in stream: UUID
    ) async throws(Refusal) {
        try await change(of: message, in: stream, visibility) { _ in metadata }
    }

    /// Merges a patch (RFC 7396) into the shown metadata of a message. Objects are merged, and `null` removes a name.
    public func merge(
        _ patch: MetadataValue, _ visibility: Streams.Visibility = .shared, into message: UUID, in stream: UUID
    ) async throws(Refusal) {
        try await change(of: message, in: stream, visibility) { $0.merged(with: patch) }
    }

    private func change(
        of message: UUID, in stream: UUID, _ visibility: Streams.Visibility,
        _ new: @escaping @Sendable (MetadataValue) -> MetadataValue
    ) async throws(Refusal) {
        let column = visibility.column
        try await change { connection in
            let shown = try String.fetchOne(
                connection,
                sql: "SELECT \(column) FROM messages WHERE stream_id = ? AND message_id = ? AND is_deleted = 0",
                arguments: [stream.text, message.text])
            guard let shown else { return }
            try connection.execute(
                sql: "UPDATE messages SET \(column) = ?1 WHERE stream_id = ?2 AND message_id = ?3 AND \(column) <> ?1",
                arguments: [try Stored.text(new(try Stored.value(shown))), stream.text, message.text])
        }
    }
}
