import CountersignClient
import Foundation
import GRDB

extension Reconciler {
    /// The start of a page of messages.
    enum Direction: Equatable { case newest, after, before }

    /// How much of each stream is on the device.
    func progress() throws -> [Synchronizer.Progress] {
        try Row.fetchAll(
            connection,
            sql: "SELECT stream_id, last_sequence, through_sequence, is_readable FROM streams ORDER BY stream_id"
        ).compactMap { row in
            guard let stream = UUID(uuidString: row["stream_id"]) else { return nil }
            return Synchronizer.Progress(
                stream: stream, last: row["last_sequence"], through: row["through_sequence"],
                isReadable: row["is_readable"])
        }
    }

    /// The number of the oldest local message; 0 if there is none.
    func first(of stream: UUID) throws -> Int64 {
        try Int64.fetchOne(
            connection, sql: "SELECT first_sequence FROM streams WHERE stream_id = ?", arguments: [stream.text]) ?? 0
    }

    private func through(of stream: UUID) throws -> Int64 {
        try Int64.fetchOne(
            connection, sql: "SELECT through_sequence FROM streams WHERE stream_id = ?", arguments: [stream.text]) ?? 0
    }

    /// Stores a page of messages. The trigger queues new ones, and they are processed at once.
    func take(_ page: Streams.Messages, of stream: UUID, _ direction: Direction) throws {
        try quietly {
            // Another reading was faster, so there may be a gap between its page and this one.
            if direction == .newest, try through(of: stream) > 0 { return }
            for message in page.messages { try insert(message, stream.text) }
            try keep(page.profiles, isComplete: try !isLeft(stream))
            let numbers = page.messages.map(\.sequence)
            if let low = numbers.min(), direction != .after { try set("first_sequence", "?", low, stream) }
            if let high = numbers.max(), direction != .before {
                try set("through_sequence", "max(?, through_sequence)", high, stream)
            }
            if direction == .after, let low = numbers.min() {
                try set("first_sequence", "CASE first_sequence WHEN 0 THEN ? ELSE first_sequence END", low, stream)
            }
            // An empty page ends the fetching, whatever the previous one announced.
            if direction != .before {
                let last = page.messages.isEmpty ? 0 : page.lastSequence
                try set("last_sequence", "max(?, through_sequence)", last, stream)
            }
            try processEvents()
        }
    }

    private func set(_ column: String, _ expression: String, _ value: Int64, _ stream: UUID) throws {
        try connection.execute(
            sql: "UPDATE streams SET \(column) = \(expression) WHERE stream_id = ?", arguments: [value, stream.text])
    }

    /// The service no longer lets the user read a stream.
    func close(_ stream: UUID, _ state: MessageStream.State) throws {
        try quietly {
            try connection.execute(
                sql: "UPDATE streams SET is_readable = 0 WHERE stream_id = ?", arguments: [stream.text])
            try connection.execute(
                sql: "UPDATE conversations SET state = ? WHERE stream_id = ? AND state = 'open'",
                arguments: [state.rawValue, stream.text])
        }
    }

    private func isLeft(_ stream: UUID) throws -> Bool {
        try Bool.fetchOne(
            connection, sql: "SELECT state = 'left' FROM conversations WHERE stream_id = ?", arguments: [stream.text])
            ?? false
    }

    private func insert(_ message: StreamMessage, _ stream: String) throws {
        // The service's numbers take precedence.
        try connection.execute(
            sql: "DELETE FROM messages WHERE stream_id = ? AND sequence = ? AND message_id <> ?",
            arguments: [stream, message.sequence, message.id.text])
        try connection.execute(
            sql: "DELETE FROM events WHERE stream_id = ? AND server_sequence = ? AND event_id <> ?",
            arguments: [stream, message.sequence, message.id.text])
        let known = try Row.fetchOne(
            connection, sql: "SELECT server_sequence FROM events WHERE stream_id = ? AND event_id = ?",
            arguments: [stream, message.id.text])
        guard known == nil else {
            // The response to it was lost, or the event was read before.
            try connection.execute(
                sql: "UPDATE events SET server_sequence = ?, content = '' WHERE stream_id = ? AND event_id = ?",
                arguments: [message.sequence, stream, message.id.text])
            try know(message.metadata, message.privateMetadata, of: message.id.text, stream)
            return try show(message, stream)
        }
        try connection.execute(
            sql: "INSERT INTO events (stream_id, event_id, server_sequence, content) VALUES (?, ?, ?, ?)",
            arguments: [stream, message.id.text, message.sequence, try Stored.text(message)])
        try know(message.metadata, message.privateMetadata, of: message.id.text, stream)
    }

    /// Inbound reconciliation: events become messages. An event of an unknown conversation stays in the queue.
    func processEvents() throws {
        let rows = try Row.fetchAll(
            connection,
            sql: """
                SELECT e.database_identifier, e.stream_id, e.content FROM unprocessed_events u
                JOIN events e ON e.database_identifier = u.event_database_identifier
                JOIN conversations c ON c.stream_id = e.stream_id
                ORDER BY e.stream_id, e.server_sequence
                """)
        for row in rows {
            let id: Int64 = row["database_identifier"]
            try show(try Stored.value(row["content"], StreamMessage.self), row["stream_id"])
            try connection.execute(
                sql: "DELETE FROM unprocessed_events WHERE event_database_identifier = ?", arguments: [id])
            // The content is in the message now.
            try connection.execute(
                sql: "UPDATE events SET content = '' WHERE database_identifier = ?", arguments: [id])
        }
    }

    private func show(_ message: StreamMessage, _ stream: String) throws {
        try connection.execute(
            sql: """
                INSERT INTO messages (stream_id, message_id, sequence, sender_id, sent_at, in_reply_to, thread_id,
                    is_deleted, parts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (stream_id, message_id) DO UPDATE SET sequence = excluded.sequence,
                    sender_id = excluded.sender_id, sent_at = excluded.sent_at, thread_id = excluded.thread_id,
                    is_deleted = max(messages.is_deleted, excluded.is_deleted),
                    parts = \(message.isExpired ? "coalesce(excluded.parts, messages.parts)" : "excluded.parts"),
                    refusal = NULL
                """,
            arguments: [
                stream, message.id.text, message.sequence, message.sender?.text, message.sentAt,
                message.inReplyTo?.text, message.thread?.text, message.isDeleted,
                try message.parts.map { try Stored.text($0) },
            ])
        try showMetadata(of: message.id.text, stream)
        try connection.execute(
            sql: "UPDATE conversations SET changed_at = max(changed_at, ?) WHERE stream_id = ?",
            arguments: [message.sentAt, stream])
    }

    // MARK: Deliveries

    /// Streams with more local messages than the service knows of. If messages are stored until all devices have them,
    /// the report of another device is not enough.
    func deliveries() throws -> [(stream: UUID, through: Int64)] {
        try Row.fetchAll(
            connection,
            sql: """
                SELECT s.stream_id, s.through_sequence FROM streams s
                JOIN conversations c ON c.stream_id = s.stream_id AND c.state = 'open' AND c.kind <> 'forum'
                JOIN participants p ON p.stream_id = s.stream_id AND p.user_id = ? AND p.is_present = 1
                WHERE s.is_readable = 1 AND (p.delivered_through < s.through_sequence
                    OR (s.is_stored = 0 AND s.reported_sequence < s.through_sequence))
                ORDER BY s.stream_id
                """, arguments: [user.text]
        ).compactMap { row in
            UUID(uuidString: row["stream_id"]).map { ($0, row["through_sequence"]) }
        }
    }

    /// Records that receipts were reported. If the service refused them, they must not be sent again either.
    func delivered(_ stream: UUID, through: Int64) throws {
        try quietly {
            try connection.execute(
                sql: """
                    UPDATE participants SET delivered_through = max(delivered_through, ?)
                    WHERE stream_id = ? AND user_id = ?
                    """, arguments: [through, stream.text, user.text])
            try set("reported_sequence", "max(?, reported_sequence)", through, stream)
        }
    }
}
