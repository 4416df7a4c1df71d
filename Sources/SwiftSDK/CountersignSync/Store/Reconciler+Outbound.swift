import CountersignClient
import Foundation
import GRDB

extension Reconciler {
    /// An event that the service has not confirmed.
    struct Unpublished: Sendable {
        let number: Int64
        let event: OutboundEvent
        let tries: Int
        /// The stored form. If the event was replaced meanwhile, it differs.
        let content: String
    }

    func pending(of stream: String? = nil, after number: Int64 = 0, limit: Int = 1000) throws -> [Unpublished] {
        try Row.fetchAll(
            connection,
            sql: """
                SELECT database_identifier, content, tries FROM events
                WHERE server_sequence IS NULL AND database_identifier > ? AND (? IS NULL OR stream_id = ?)
                ORDER BY database_identifier LIMIT ?
                """, arguments: [number, stream, stream, limit]
        ).map { row in
            let content: String = row["content"]
            return Unpublished(
                number: row["database_identifier"], event: try Stored.value(content), tries: row["tries"],
                content: content)
        }
    }

    /// Outbound reconciliation: changes become events, and leave their queue.
    func reconcileOutbound() throws {
        let changes = try changes()
        guard let last = changes.map(\.number).max() else { return }
        let streams = Set(changes.compactMap(Self.stream))
        let pending = try streams.flatMap { try self.pending(of: $0.text) }
        let plan = Synchronizer.outbound(
            changes, pending: pending.map { Synchronizer.Pending(event: $0.event, tries: $0.tries) })
        try quietly {
            for event in plan.withdrawn {
                try connection.execute(
                    sql: "DELETE FROM events WHERE stream_id = ? AND event_id = ? AND server_sequence IS NULL",
                    arguments: [event.stream.text, event.name])
            }
            for event in plan.events {
                try connection.execute(
                    sql: """
                        INSERT INTO events (stream_id, event_id, content) VALUES (?, ?, ?)
                        ON CONFLICT (stream_id, event_id) DO UPDATE SET content = excluded.content, tries = 0
                        WHERE server_sequence IS NULL
                        """, arguments: [event.stream.text, event.name, try Stored.text(event)])
            }
            for message in plan.discarded {
                try connection.execute(
                    sql: "DELETE FROM messages WHERE message_id = ? AND sequence IS NULL", arguments: [message.text])
            }
            for stream in plan.abandoned { try forget(stream.text) }
            try connection.execute(
                sql: "DELETE FROM syncable_changes WHERE change_identifier <= ?", arguments: [last])
        }
    }

    private static func stream(_ change: Synchronizer.Change) -> UUID? {
        switch change.subject {
        case .conversation(let one, _): one.stream
        case .message(let one, _): one.stream
        case .participant(_, let stream, _): stream
        case .nothing: nil
        }
    }

    private func changes() throws -> [Synchronizer.Change] {
        try Row.fetchAll(
            connection, sql: "SELECT * FROM syncable_changes ORDER BY change_identifier"
        ).map { row in
            let (table, id): (String, Int64) = (row["table_name"], row["row_identifier"])
            let type = Synchronizer.ChangeType(rawValue: row["change_type"]) ?? .update
            let subject: Synchronizer.Subject? =
                switch table {
                case "conversations": try conversation(id).map { .conversation($0, column: row["column_name"]) }
                case "messages": try message(id).map { .message($0, column: row["column_name"]) }
                default: try participant(id)
                }
            return Synchronizer.Change(number: row["change_identifier"], type: type, subject: subject ?? .nothing)
        }
    }

    private func conversation(_ id: Int64) throws -> Synchronizer.Conversation? {
        let row = try Row.fetchOne(
            connection,
            sql: """
                SELECT c.*, coalesce(s.metadata, '{}') AS known, coalesce(s.private_metadata, '{}') AS known_own
                FROM conversations c LEFT JOIN streams s ON s.stream_id = c.stream_id WHERE c.database_identifier = ?
                """, arguments: [id])
        guard let row, let stream = UUID(uuidString: row["stream_id"]) else { return nil }
        let opening: String? = row["opening"]
        return Synchronizer.Conversation(
            stream: stream, opening: try opening.map { try Stored.value($0) }, readThrough: row["read_through"],
            known: try Self.metadata(row, "known", "known_own"),
            shown: try Self.metadata(row, "metadata", "private_metadata"))
    }

    private func message(_ id: Int64) throws -> Synchronizer.Message? {
        let row = try Row.fetchOne(
            connection,
            sql: """
                SELECT m.*, coalesce(e.metadata, '{}') AS known, coalesce(e.private_metadata, '{}') AS known_own
                FROM messages m LEFT JOIN events e ON e.stream_id = m.stream_id AND e.event_id = m.message_id
                WHERE m.database_identifier = ?
                """, arguments: [id])
        guard let row, let stream = UUID(uuidString: row["stream_id"]), let id = UUID(uuidString: row["message_id"])
        else { return nil }
        let (parts, reply, number): (String?, String?, Int64?) = (row["parts"], row["in_reply_to"], row["sequence"])
        let message = NewMessage(
            try parts.map { try Stored.value($0) } ?? [], inReplyTo: reply.flatMap { UUID(uuidString: $0) }, id: id)
        return Synchronizer.Message(
            stream: stream, message: message, isSent: number != nil, isDeleted: row["is_deleted"],
            isDeletedForUser: row["is_deleted_for_user"], known: try Self.metadata(row, "known", "known_own"),
            shown: try Self.metadata(row, "metadata", "private_metadata"))
    }

    private static func metadata(_ row: Row, _ shared: String, _ own: String) throws -> Synchronizer.Metadata {
        .init(shared: try Stored.value(row[shared]), own: try Stored.value(row[own]))
    }

    private func participant(_ id: Int64) throws -> Synchronizer.Subject? {
        let row = try Row.fetchOne(
            connection, sql: "SELECT * FROM participants WHERE database_identifier = ?", arguments: [id])
        guard let row, let stream = UUID(uuidString: row["stream_id"]), let user = UUID(uuidString: row["user_id"])
        else { return nil }
        return .participant(user: user, stream: stream, isPresent: row["is_present"])
    }

    // MARK: Responses of the service

    /// An event is about to be sent, so the service may have it from now on.
    func count(_ one: Unpublished) throws -> Bool {
        try connection.execute(
            sql: "UPDATE events SET tries = tries + 1 WHERE database_identifier = ? AND server_sequence IS NULL",
            arguments: [one.number])
        return connection.changesCount > 0
    }

    func confirm(_ one: Unpublished, _ answer: SentMessage?) throws {
        try quietly {
            switch one.event {
            case .append(let message, let stream):
                if let answer { try number(message.id, stream, answer) } else { try drop(message.id, stream) }
            case .open(let opening):
                try connection.execute(
                    sql:
                        "UPDATE conversations SET opening = NULL, state = 'open' WHERE stream_id = ? AND state = 'opening'",
                    arguments: [opening.id.text])
            case .share(let patch, let message, let stream): try merge(patch, .shared, message, stream)
            case .keep(let patch, let message, let stream): try merge(patch, .own, message, stream)
            case .deleteStream(let stream): try forget(stream.text)
            case .read, .add, .remove, .deleteMessage, .deleteForMe: break
            }
            try remove(one)
        }
    }

    func refuse(_ one: Unpublished, _ code: String) throws {
        try quietly {
            let stream = one.event.stream.text
            switch one.event {
            case .append(let message, _):
                try connection.execute(
                    sql: "UPDATE messages SET refusal = ? WHERE stream_id = ? AND message_id = ?",
                    arguments: [code, stream, message.id.text])
            case .open:
                try connection.execute(
                    sql: "UPDATE conversations SET refusal = ?, state = 'refused' WHERE stream_id = ?",
                    arguments: [code, stream])
            case .add(let user, _), .remove(let user, _):
                try connection.execute(
                    sql: "UPDATE participants SET is_present = 1 - is_present WHERE stream_id = ? AND user_id = ?",
                    arguments: [stream, user.text])
            case .share(_, nil, _): try showKnown("metadata", stream)
            case .keep(_, nil, _): try showKnown("private_metadata", stream)
            // Shown again below, without the refused event.
            case .share, .keep: break
            case .deleteMessage(let message, _), .deleteForMe(let message, _):
                // A message that was deleted by somebody else meanwhile has no parts.
                try connection.execute(
                    sql: """
                        UPDATE messages SET is_deleted = 0, is_deleted_for_user = 0
                        WHERE stream_id = ? AND message_id = ? AND parts IS NOT NULL
                        """, arguments: [stream, message.text])
            case .deleteStream:
                try connection.execute(
                    sql: "UPDATE conversations SET state = 'open', refusal = ? WHERE stream_id = ?",
                    arguments: [code, stream])
            case .read: break
            }
            try remove(one)
            if let message = one.event.message, one.event.patch != nil { try showMetadata(of: message.text, stream) }
        }
    }

    private func remove(_ one: Unpublished) throws {
        try connection.execute(
            sql: "DELETE FROM events WHERE database_identifier = ? AND content = ? AND server_sequence IS NULL",
            arguments: [one.number, one.content])
    }

    private func number(_ id: UUID, _ stream: UUID, _ answer: SentMessage) throws {
        let place: StatementArguments = [answer.sequence, stream.text, id.text]
        try connection.execute(
            sql: "UPDATE events SET server_sequence = ?, content = '' WHERE stream_id = ? AND event_id = ?",
            arguments: place)
        try connection.execute(
            sql: """
                UPDATE messages SET sequence = ?, sent_at = ?, thread_id = ?, refusal = NULL
                WHERE stream_id = ? AND message_id = ?
                """,
            arguments: [answer.sequence, answer.sentAt, answer.thread?.text, stream.text, id.text])
        // If all earlier messages are local, this one need not be fetched.
        try connection.execute(
            sql: """
                UPDATE streams SET last_sequence = max(last_sequence, ?1),
                    first_sequence = CASE through_sequence WHEN 0 THEN ?1 ELSE first_sequence END, through_sequence = ?1
                WHERE stream_id = ?2 AND through_sequence = ?1 - 1
                """, arguments: [answer.sequence, stream.text])
    }

    private func drop(_ id: UUID, _ stream: UUID) throws {
        try connection.execute(
            sql: "DELETE FROM messages WHERE stream_id = ? AND message_id = ? AND sequence IS NULL",
            arguments: [stream.text, id.text])
    }

    private func merge(
        _ patch: MetadataValue, _ visibility: Streams.Visibility, _ message: UUID?, _ stream: UUID
    ) throws {
        let (table, condition) = message == nil ? ("streams", "") : ("events", "AND event_id = ?")
        let place = [stream.text] + (message.map { [$0.text] } ?? [])
        let known = try String.fetchOne(
            connection, sql: "SELECT \(visibility.column) FROM \(table) WHERE stream_id = ? \(condition)",
            arguments: StatementArguments(place))
        guard let known else { return }
        let value: MetadataValue = try Stored.value(known)
        try connection.execute(
            sql: "UPDATE \(table) SET \(visibility.column) = ? WHERE stream_id = ? \(condition)",
            arguments: StatementArguments([try Stored.text(value.merged(with: patch))] + place))
    }

    private func showKnown(_ column: String, _ stream: String) throws {
        try connection.execute(
            sql: """
                UPDATE conversations SET \(column) = (SELECT s.\(column) FROM streams s WHERE s.stream_id = ?1)
                WHERE stream_id = ?1 AND EXISTS (SELECT 1 FROM streams s WHERE s.stream_id = ?1)
                """, arguments: [stream])
    }
}
