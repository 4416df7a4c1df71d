import CountersignClient
import Foundation
import GRDB

extension LocalStreams {
    /// Messages of a conversation, by day.
    ///
    /// - Parameter sequence: ``MessagePage/before`` of the previous page; `nil` for the newest.
    public func messages(
        in stream: UUID, before sequence: Int64? = nil, limit: Int = 50, calendar: Calendar = .current
    ) async throws(Refusal) -> MessagePage {
        try await read { store in
            let found = try store.messages(of: stream, before: sequence, limit: limit)
            let oldest = found.compactMap(\.sequence).min()
            let first = try store.first(of: stream)
            let isFetchNeeded = (oldest ?? first) <= first
            let before = (oldest ?? sequence).flatMap { $0 > 1 ? $0 : nil }
            return MessagePage(
                sections: MessageSection.sections(of: found, in: calendar), before: before,
                isFetchNeeded: isFetchNeeded && before != nil)
        }
    }

    /// Every local message of a thread, oldest first.
    public func thread(_ head: UUID, in stream: UUID) async throws(Refusal) -> [ShownMessage] {
        try await read { try $0.thread(head, in: stream).sorted { MessageSection.isNewer($1, $0) } }
    }

    /// Single messages and threads, newest first, from the newest local messages.
    public func queue(limit: Int = 200) async throws(Refusal) -> [QueueEntry] {
        try await read { store in
            let newest = try store.newest(limit)
            let heads = try store.heads(of: newest)
            return QueueEntry.entries(of: newest + heads, readThrough: try store.readThrough())
        }
    }

    /// The metadata of a stream as it is shown.
    public func metadata(
        _ visibility: Streams.Visibility = .shared, of stream: UUID
    ) async throws(Refusal) -> MetadataValue {
        let column = visibility.column
        return try await read { store in
            let text = try String.fetchOne(
                store.connection, sql: "SELECT \(column) FROM conversations WHERE stream_id = ?",
                arguments: [stream.text])
            return try text.map { try Stored.value($0) } ?? .object([:])
        }
    }

    /// Whether all local changes have reached the service, and everything fetched is shown.
    public func isReconciled() async throws(Refusal) -> Bool {
        try await read { store in
            try Int.fetchOne(
                store.connection,
                sql: """
                    SELECT (SELECT COUNT(*) FROM syncable_changes) + (SELECT COUNT(*) FROM unprocessed_events)
                        + (SELECT COUNT(*) FROM events WHERE server_sequence IS NULL)
                        + (SELECT COUNT(*) FROM streams WHERE is_readable = 1 AND through_sequence < last_sequence)
                    """) == 0
        }
    }
}

extension Reconciler {
    func others(in stream: String) throws -> [Participant] {
        try Row.fetchAll(
            connection,
            sql: """
                SELECT s.*, \(Self.profileColumns) FROM participants s LEFT JOIN profiles p ON p.user_id = s.user_id
                WHERE s.stream_id = ? AND s.user_id <> ? AND s.is_present = 1 ORDER BY s.user_id
                """,
            arguments: [stream, user.text]
        ).compactMap { row in
            UUID(uuidString: row["user_id"]).map { id in
                Participant(
                    id: id, profile: Self.profile(in: row), assurance: Assurance(rawValue: row["assurance"]),
                    deliveredThrough: row["delivered_through"], readThrough: row["read_through"])
            }
        }
    }

    /// Newest first. Messages without a number are included in the first page only.
    func messages(of stream: UUID, before sequence: Int64?, limit: Int) throws -> [ShownMessage] {
        let waiting =
            sequence == nil
            ? try shown(
                """
                SELECT * FROM messages WHERE stream_id = ? AND sequence IS NULL AND is_deleted = 0
                ORDER BY sent_at DESC, message_id DESC LIMIT ?
                """, [stream.text, limit]) : []
        return waiting
            + (try shown(
                "SELECT * FROM messages WHERE stream_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
                [stream.text, sequence ?? .max, max(0, limit - waiting.count)]))
    }

    func thread(_ head: UUID, in stream: UUID) throws -> [ShownMessage] {
        try shown(
            "SELECT * FROM messages WHERE stream_id = ?1 AND (thread_id = ?2 OR message_id = ?2)",
            [stream.text, head.text])
    }

    func newest(_ limit: Int) throws -> [ShownMessage] {
        try shown(
            "SELECT * FROM messages WHERE is_deleted = 0 ORDER BY sent_at DESC, database_identifier DESC LIMIT ?",
            [limit])
    }

    /// The first messages of threads, unless they are among the given ones.
    func heads(of messages: [ShownMessage]) throws -> [ShownMessage] {
        let known = Set(messages.map(\.id))
        let missing = Set(messages.filter { !known.contains($0.thread) }.map { [$0.stream.text, $0.thread.text] })
        return try missing.flatMap { place in
            try shown(
                "SELECT * FROM messages WHERE stream_id = ? AND message_id = ?", StatementArguments(place))
        }
    }

    func readThrough() throws -> [UUID: Int64] {
        let rows = try Row.fetchAll(connection, sql: "SELECT stream_id, read_through FROM conversations")
        return Dictionary(
            rows.compactMap { row in UUID(uuidString: row["stream_id"]).map { ($0, row["read_through"]) } },
            uniquingKeysWith: { first, _ in first })
    }

    private func shown(_ sql: String, _ arguments: StatementArguments) throws -> [ShownMessage] {
        try shown(Row.fetchAll(connection, sql: sql, arguments: arguments)).map(\.message)
    }

    /// Rows of `messages` as views show them, each with its row.
    func shown(_ rows: [Row]) throws -> [(message: ShownMessage, row: Row)] {
        var others: [String: [Participant]] = [:]
        var profiles: [String: PublicProfile?] = [:]
        return try rows.compactMap { row in
            let place: String = row["stream_id"]
            guard let stream = UUID(uuidString: place), let id = UUID(uuidString: row["message_id"]) else { return nil }
            if others[place] == nil { others[place] = try self.others(in: place) }
            let (sender, reply, thread): (String?, String?, String?) = (
                row["sender_id"], row["in_reply_to"], row["thread_id"]
            )
            let (parts, number, isDeleted): (String?, Int64?, Bool) = (
                row["parts"], row["sequence"], row["is_deleted"]
            )
            let isOwn = sender == user.text
            if let sender, profiles[sender] == nil { profiles.updateValue(try profile(of: sender), forKey: sender) }
            func metadata(_ visibility: Streams.Visibility) throws -> MetadataValue {
                isDeleted ? .object([:]) : try Stored.value(row[visibility.column])
            }
            let message = ShownMessage(
                id: id, stream: stream, sequence: number, sender: sender.flatMap { UUID(uuidString: $0) },
                author: sender.flatMap { profiles[$0] ?? nil }, isOwn: isOwn, sentAt: row["sent_at"],
                inReplyTo: reply.flatMap { UUID(uuidString: $0) },
                thread: thread.flatMap { UUID(uuidString: $0) }, isDeleted: isDeleted,
                parts: isDeleted ? [] : try parts.map { try Stored.value($0) } ?? [],
                status: isOwn
                    ? MessageStatus.of(number, refusal: row["refusal"], others: others[place] ?? []) : nil,
                metadata: try metadata(.shared), privateMetadata: try metadata(.own))
            return (message, row)
        }
    }
}
