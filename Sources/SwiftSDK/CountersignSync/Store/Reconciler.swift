import CountersignClient
import Foundation
import GRDB

/// Applies the synchronizer's decisions and the service's responses, inside one transaction.
struct Reconciler {
    let connection: Database
    let user: UUID

    init(_ connection: Database, _ user: UUID) {
        self.connection = connection
        self.user = user
    }

    /// Changes rows without recording them as the user's changes. If the body throws, everything is rolled back,
    /// including the flag.
    func quietly<T>(_ body: () throws -> T) throws -> T {
        try connection.execute(sql: "UPDATE synchronization SET is_reconciling = 1")
        let result = try body()
        try connection.execute(sql: "UPDATE synchronization SET is_reconciling = 0")
        return result
    }

    // MARK: The state of the device

    func anchor() throws -> String {
        try String.fetchOne(connection, sql: "SELECT anchor FROM synchronization") ?? "0"
    }

    /// Assigns the store to the user. Another user's content is deleted.
    func begin(at now: Date) throws {
        let owner = try String.fetchOne(connection, sql: "SELECT user_id FROM synchronization")
        guard owner != user.text else { return }
        for table in [
            "synchronization", "streams", "events", "conversations", "participants", "messages", "syncable_changes",
            "unprocessed_events", "notifications", "profiles",
        ] { try connection.execute(sql: "DELETE FROM \(table)") }
        try connection.execute(
            sql: """
                INSERT INTO synchronization (id, user_id, anchor, epoch, synchronized_at) VALUES (1, ?, '0', ?, ?)
                """, arguments: [user.text, UUID().text, now])
        try rebuildIndexes()
    }

    /// Synchronizes everything again if the device was offline for more than 60 days. The service keeps deletions for
    /// 90 days only.
    func beginAnewIfAbsent(at now: Date) throws {
        let last = try Date.fetchOne(connection, sql: "SELECT synchronized_at FROM synchronization")
        guard let last, now.timeIntervalSince(last) > 60 * 86_400 else { return }
        try connection.execute(
            sql: "UPDATE synchronization SET anchor = '0', epoch = ?, synchronized_at = ?",
            arguments: [UUID().text, now])
        try rebuildIndexes()
    }

    // MARK: Inbound

    /// Applies one page of operations, with its anchor. A page for another anchor is ignored.
    func apply(_ page: SyncPage, since anchor: String, at now: Date) throws {
        guard try self.anchor() == anchor else { return }
        try reconcileOutbound()
        try quietly {
            if Synchronizer.isRestart(from: anchor, to: page.anchor) { try forgetNumbers() }
            let epoch = try String.fetchOne(connection, sql: "SELECT epoch FROM synchronization") ?? ""
            for operation in page.operations { try apply(operation, epoch) }
            try keep(page.notifications)
            try connection.execute(
                sql: "UPDATE synchronization SET anchor = ?, synchronized_at = ?", arguments: [page.anchor, now])
            guard !page.hasMore else { return }
            let gone = try String.fetchAll(
                connection, sql: "SELECT stream_id FROM streams WHERE epoch <> ?", arguments: [epoch])
            for stream in gone { try forget(stream) }
        }
    }

    /// Forgets the service's numbers, because its store was restored and its numbers are older. Local messages are
    /// fetched again.
    private func forgetNumbers() throws {
        try connection.execute(
            sql: """
                DELETE FROM unprocessed_events;
                DELETE FROM events WHERE server_sequence IS NOT NULL;
                DELETE FROM messages WHERE sequence IS NOT NULL;
                UPDATE participants SET delivered_through = 0, read_through = 0;
                UPDATE conversations SET read_through = 0;
                UPDATE streams SET last_sequence = 0, first_sequence = 0, through_sequence = 0, reported_sequence = 0;
                """)
        try connection.execute(sql: "UPDATE synchronization SET epoch = ?", arguments: [UUID().text])
        try rebuildIndexes()
    }

    private func apply(_ operation: SyncOperation, _ epoch: String) throws {
        if let message = operation.messageID {
            try apply(operation, to: message.text, operation.streamID.text)
        } else if let stream = operation.stream {
            try apply(stream, epoch)
            guard operation.kind == .erased else { return }
            try forgetErasedProfiles(in: stream)
            try forgetErased(in: stream)
        } else if operation.kind == .deleted {
            try forget(operation.streamID.text)
        }
    }

    /// Deletes what a member's erasure may have changed. It is not known which messages were erased, so the stream is
    /// fetched again. If that is not possible, all other members' messages are deleted.
    private func forgetErased(in row: MessageStream) throws {
        let id = row.id.text
        guard row.state != .closed else {
            return try connection.execute(
                sql: "UPDATE messages SET is_deleted = 1, parts = NULL WHERE stream_id = ? AND sender_id IS NOT ?",
                arguments: [id, user.text])
        }
        try connection.execute(
            sql: """
                DELETE FROM unprocessed_events WHERE event_database_identifier IN (
                    SELECT database_identifier FROM events WHERE stream_id = ?)
                """, arguments: [id])
        for table in ["events WHERE server_sequence", "messages WHERE sequence"] {
            try connection.execute(sql: "DELETE FROM \(table) IS NOT NULL AND stream_id = ?", arguments: [id])
        }
        try connection.execute(
            sql: "UPDATE streams SET first_sequence = 0, through_sequence = 0 WHERE stream_id = ?", arguments: [id])
    }

    func apply(_ row: MessageStream, _ epoch: String) throws {
        let id = row.id.text
        let pending = try self.pending(of: id).map(\.event)
        try connection.execute(
            sql: """
                INSERT INTO streams (stream_id, last_sequence, first_sequence, through_sequence, is_readable, is_stored,
                    metadata, private_metadata, epoch) VALUES (?, ?, 0, 0, ?, ?, '{}', '{}', ?)
                ON CONFLICT (stream_id) DO UPDATE SET last_sequence = excluded.last_sequence,
                    is_readable = excluded.is_readable, is_stored = excluded.is_stored, epoch = excluded.epoch
                """,
            arguments: [id, row.lastSequence, row.state != .closed, row.messageStorage != .untilDelivered, epoch])
        let changed = max(row.lastMessage?.sentAt ?? row.createdAt, row.createdAt)
        let read = row.members.first { $0.userID == user }?.readThrough ?? 0
        // The service omits the titles of closed streams. Known titles are kept.
        try connection.execute(
            sql: """
                INSERT INTO conversations (stream_id, kind, state, created_by, created_at, changed_at, title, about,
                    image_url, metadata, private_metadata, read_through, last_sequence)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', '{}', ?, ?)
                ON CONFLICT (stream_id) DO UPDATE SET
                    state = CASE conversations.state WHEN 'deleted' THEN 'deleted' ELSE excluded.state END,
                    created_by = excluded.created_by, created_at = excluded.created_at,
                    changed_at = max(conversations.changed_at, excluded.changed_at),
                    title = coalesce(excluded.title, conversations.title),
                    about = coalesce(excluded.about, conversations.about),
                    image_url = coalesce(excluded.image_url, conversations.image_url),
                    read_through = max(conversations.read_through, excluded.read_through),
                    last_sequence = excluded.last_sequence, opening = NULL, refusal = NULL
                """,
            arguments: [
                id, row.kind.rawValue, row.state.rawValue, row.createdBy?.text, row.createdAt, changed, row.title,
                row.about, row.imageURL, read, row.lastSequence,
            ])
        try keep(row.profiles, isComplete: row.state != .left)
        try apply(row.members, of: row, pending)
        if let metadata = row.metadata { try setMetadata(metadata, .shared, id, pending) }
        if let metadata = row.privateMetadata { try setMetadata(metadata, .own, id, pending) }
    }

    /// Members by the service, with the unconfirmed local changes applied.
    private func apply(_ members: [MessageStream.Member], of row: MessageStream, _ pending: [OutboundEvent]) throws {
        let id = row.id.text
        var present = Set(members.map(\.userID))
        for event in pending {
            if case .add(let user, _) = event { present.insert(user) }
            if case .remove(let user, _) = event { present.remove(user) }
        }
        if row.state == .left {
            let others = "UPDATE participants SET is_present = 0 WHERE stream_id = ? AND user_id = ?"
            return try connection.execute(sql: others, arguments: [id, user.text])
        }
        try connection.execute(sql: "UPDATE participants SET is_present = 0 WHERE stream_id = ?", arguments: [id])
        for member in members {
            try connection.execute(
                sql: """
                    INSERT INTO participants (stream_id, user_id, assurance, delivered_through, read_through, is_present)
                    VALUES (?, ?, ?, ?, ?, 0)
                    ON CONFLICT (stream_id, user_id) DO UPDATE SET
                        assurance = excluded.assurance,
                        delivered_through = max(participants.delivered_through, excluded.delivered_through),
                        read_through = max(participants.read_through, excluded.read_through)
                    """,
                arguments: [
                    id, member.userID.text, member.assurance.rawValue, member.deliveredThrough, member.readThrough,
                ])
        }
        for user in present {
            try connection.execute(
                sql: "UPDATE participants SET is_present = 1 WHERE stream_id = ? AND user_id = ?",
                arguments: [id, user.text])
        }
    }

    private func setMetadata(
        _ value: MetadataValue, _ visibility: Streams.Visibility, _ id: String, _ pending: [OutboundEvent]
    ) throws {
        let column = visibility.column
        let shown = Synchronizer.shown(value, pending, visibility)
        try connection.execute(
            sql: "UPDATE streams SET \(column) = ? WHERE stream_id = ?", arguments: [try Stored.text(value), id])
        try connection.execute(
            sql: "UPDATE conversations SET \(column) = ? WHERE stream_id = ?", arguments: [try Stored.text(shown), id])
    }

    /// Deletes a stream that was deleted, or that the user can no longer see.
    func forget(_ stream: String) throws {
        try forgetProfiles(of: stream)
        try connection.execute(
            sql: """
                DELETE FROM unprocessed_events WHERE event_database_identifier IN (
                    SELECT database_identifier FROM events WHERE stream_id = ?)
                """, arguments: [stream])
        for table in ["events", "messages", "participants", "conversations", "streams"] {
            try connection.execute(sql: "DELETE FROM \(table) WHERE stream_id = ?", arguments: [stream])
        }
    }
}

/// The form of values in text columns: equal values have equal texts.
enum Stored {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ text: String, _ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
