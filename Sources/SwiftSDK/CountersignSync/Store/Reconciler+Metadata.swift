import CountersignClient
import Foundation
import GRDB

/// Metadata and deletions of single messages. The service's metadata of a message are in its row of `events`, the user's
/// in its row of `messages`.
extension Reconciler {
    func apply(_ operation: SyncOperation, to message: String, _ stream: String) throws {
        switch operation.kind {
        case .deleted:
            try know(nil, nil, of: message, stream)
            try connection.execute(
                sql: """
                    UPDATE messages SET is_deleted = 1, parts = NULL, metadata = '{}', private_metadata = '{}'
                    WHERE stream_id = ? AND message_id = ?
                    """, arguments: [stream, message])
        case .updateTags:
            guard let metadata = operation.messageMetadata else { return }
            // A message that is not on the device is fetched with its metadata later.
            try know(metadata.metadata, metadata.privateMetadata, of: message, stream)
            try showMetadata(of: message, stream)
        default: return
        }
    }

    /// Stores the service's metadata of a message; `nil` if there are none.
    func know(
        _ shared: MetadataValue?, _ own: MetadataValue?, of message: String, _ stream: String
    ) throws {
        try connection.execute(
            sql: """
                UPDATE events SET metadata = ?, private_metadata = ?
                WHERE stream_id = ? AND event_id = ? AND server_sequence IS NOT NULL
                """,
            arguments: [try Stored.text(shared ?? .object([:])), try Stored.text(own ?? .object([:])), stream, message])
    }

    /// Shows the service's metadata of a message, with the unconfirmed local changes applied.
    func showMetadata(of message: String, _ stream: String) throws {
        let known = try Row.fetchOne(
            connection, sql: "SELECT metadata, private_metadata FROM events WHERE stream_id = ? AND event_id = ?",
            arguments: [stream, message])
        guard let known, let id = UUID(uuidString: message), let place = UUID(uuidString: stream) else { return }
        let names = [OutboundEvent.share(.null, message: id, stream: place), .keep(.null, message: id, stream: place)]
            .map(\.name)
        let pending = try String.fetchAll(
            connection,
            sql: """
                SELECT content FROM events WHERE stream_id = ? AND event_id IN (?, ?) AND server_sequence IS NULL
                """, arguments: [stream, names[0], names[1]]
        ).map { try Stored.value($0, OutboundEvent.self) }
        let shared = Synchronizer.shown(try Stored.value(known["metadata"]), pending, .shared, of: id)
        let own = Synchronizer.shown(try Stored.value(known["private_metadata"]), pending, .own, of: id)
        try connection.execute(
            sql: """
                UPDATE messages SET metadata = ?1, private_metadata = ?2
                WHERE stream_id = ?3 AND message_id = ?4 AND is_deleted = 0
                    AND (metadata <> ?1 OR private_metadata <> ?2)
                """, arguments: [try Stored.text(shared), try Stored.text(own), stream, message])
    }
}
