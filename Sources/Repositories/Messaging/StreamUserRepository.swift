import Database
import Domain
import Foundation

/// A user's quotas of streams, and the changes that the user's devices synchronize.
///
/// Each kind of change of a stream or message is one row. It moves to the end when it happens again, so a device that
/// was offline reads only the latest state.
package struct StreamUserRepository {
    private let transaction: any Transaction

    /// An expression: the message of a change. A message's id is unique only in its stream, so a change's target names
    /// both.
    ///
    /// - Parameter target: the column.
    static func message(_ target: String) -> String { "substr(\(target), \(streamLength + 1))" }

    /// The characters of a target before the message: the stream's id, and a space.
    private static let streamLength = 37
}

package extension StreamUserRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    // MARK: Quotas

    private static let counts = ColumnTuple(Column<Int64>("streams"), Column<Int64>("stored_bytes"))
    private static let all = ColumnTuple(
        Column<UserID>("user_id"), Column<Int64>("last_change"), Column<Int64>("streams"),
        Column<Int64>("stored_bytes"))
    /// Inserts a user's row, or adds to its values.
    private static let adding = """
        INSERT INTO stream_users (\(all)) VALUES (\(all.placeholders))
        ON CONFLICT (user_id) DO UPDATE
        SET last_change = stream_users.last_change + excluded.last_change,
            streams = stream_users.streams + excluded.streams,
            stored_bytes = stream_users.stored_bytes + excluded.stored_bytes
        """

    /// Adds to a user's count of streams and bytes.
    ///
    /// - Returns: the new values.
    func count(
        streams: Int64 = 0, bytes: Int64 = 0, of user: UserID
    ) throws -> (streams: Int64, bytes: Int64) {
        let row = try transaction.first(
            "\(Self.adding) RETURNING \(Self.counts)", Self.all.row(user, 0, streams, bytes))
        return try row.map(Self.counts.read) ?? (0, 0)
    }

    /// Adds bytes for a user whose quota was checked in this transaction.
    func add(bytes: Int64, of user: UserID) throws {
        try transaction.enqueue(Self.adding, Self.all.row(user, 0, 0, bytes))
    }

    /// The counted bytes of a user's messages.
    func storedBytes(of user: UserID) throws -> Int64 {
        try transaction.value("SELECT stored_bytes FROM stream_users WHERE user_id = $1", [.id(user)]) ?? 0
    }

    /// Releases quota of a user. An erased user has none.
    func release(streams: Int64 = 0, bytes: Int64 = 0, of user: UserID) throws {
        try transaction.execute(
            """
            UPDATE stream_users SET streams = streams - $2, stored_bytes = stored_bytes - $3 WHERE user_id = $1
            """, [.id(user), streams.value, bytes.value])
    }

    /// Releases bytes of several users' quotas, in the order in which every writer locks the users' rows.
    func release(bytes: [UserID: Int64]) throws {
        for (user, size) in bytes.sorted(by: { $0.key.description < $1.key.description }) {
            try release(bytes: size, of: user)
        }
    }

    // MARK: Changes

    /// A change with its number among the user's changes.
    struct Entry: Sendable {
        package let sequence: Int64
        package let kind: UserChange
        package let stream: MessageStreamID
        /// The message that was deleted, or whose metadata changed; `nil` for a change of the stream.
        package let message: MessageID?
    }

    private static let entry = ColumnTuple(
        Column<Int64>("sequence"), Column<UserChange>("kind"), Column<MessageStreamID>("stream_id"),
        Column<String>("target"))

    /// Records a change for some users, once in a transaction. Every writer locks their rows in the order of their ids.
    ///
    /// - Parameter message: the message that was deleted, or whose metadata changed.
    func note(
        _ change: UserChange, of stream: MessageStreamID, _ message: MessageID? = nil, for users: [UserID],
        at time: Date
    ) throws {
        let target = message.map { "\(stream) \($0)" } ?? stream.description
        let list = users.map(\.description).sorted().map(\.value)
        try transaction.once([change.value, .text(target), .id(stream)] + list) {
            try transaction.enqueue(Self.counting, list: list)
            try transaction.enqueue(
                Self.noting, [change.value, .text(target), .id(stream), .time(time)], list: list)
        }
    }

    /// Removes duplicates, because a padded list repeats its last user.
    private static func listed(_ rows: String) -> String {
        "(SELECT DISTINCT v.column1 AS user_id FROM (VALUES \(rows)) AS v) AS listed"
    }

    private static let counting = ListStatement { list in
        """
        INSERT INTO stream_users (\(all))
        SELECT listed.user_id, 1, 0, 0 FROM \(listed(list.rows)) WHERE 1 = 1 ORDER BY listed.user_id
        ON CONFLICT (user_id) DO UPDATE SET last_change = stream_users.last_change + 1
        """
    }
    /// Each number is read by a separate subquery: a plan that scans the table would conflict with every other writer.
    private static let noting = ListStatement(after: 4) { list in
        """
        INSERT INTO user_changes (user_id, kind, target, stream_id, sequence, at)
        SELECT listed.user_id, $1, $2, $3,
            (SELECT s.last_change FROM stream_users s WHERE s.user_id = listed.user_id), $4
        FROM \(listed(list.rows)) WHERE 1 = 1
        ON CONFLICT (user_id, kind, target) DO UPDATE SET sequence = excluded.sequence, at = excluded.at
        """
    }

    /// A user's changes after a number, oldest first.
    func changes(of user: UserID, after anchor: Int64, limit: Int) throws -> [Entry] {
        try transaction.query(
            """
            SELECT \(Self.entry) FROM user_changes WHERE user_id = $1 AND sequence > $2
            ORDER BY sequence LIMIT $3
            """, [.id(user), anchor.value, limit.value]
        ).map(Self.read)
    }

    private static func read(_ row: Row) throws -> Entry {
        let (sequence, kind, stream, target) = try entry.read(row)
        return Entry(
            sequence: sequence, kind: kind, stream: stream,
            message: MessageID(target.dropFirst(streamLength)))
    }

    /// The number of a user's last change; 0 if there is none.
    func lastChange(of user: UserID) throws -> Int64 {
        try transaction.value("SELECT last_change FROM stream_users WHERE user_id = $1", [.id(user)]) ?? 0
    }

    /// Deletes changes of a deleted stream that the deletion supersedes.
    func forget(_ stream: MessageStreamID, of users: [UserID]) throws {
        for user in users {
            for kind in UserChange.allCases where kind != .deleted && kind != .notification {
                try transaction.enqueue(
                    "DELETE FROM user_changes WHERE user_id = $1 AND kind = $2 AND target = $3",
                    [.id(user), kind.value, .id(stream)])
            }
        }
    }

    /// Deletes some of the data that a user's devices synchronize, and finally the user's quotas. Returns the number of
    /// rows.
    @discardableResult
    func erase(_ user: UserID, limit: Int = 1000) throws -> Int {
        let changes = try transaction.execute(
            """
            DELETE FROM user_changes WHERE (user_id, kind, target) IN (
                SELECT user_id, kind, target FROM user_changes WHERE user_id = $1 ORDER BY sequence LIMIT \(limit))
            """, [.id(user)])
        guard changes < limit else { return changes }
        return changes + (try transaction.execute("DELETE FROM stream_users WHERE user_id = $1", [.id(user)]))
    }

    /// How long a change of a message is kept for offline devices, in seconds.
    static let keptDeletions: TimeInterval = 90 * 86_400

    private static let deletions = AgedRows(
        of: "user_changes", key: "user_id, kind, target", age: "at", and: "kind = 'DELETED'")
    private static let messageTags = AgedRows(
        of: "user_changes", key: "user_id, kind, target", age: "at",
        and: "kind = 'UPDATE_TAGS' AND target <> stream_id")

    /// Deletes changes of messages' metadata from before a time. Devices read the metadata with the messages, too.
    @discardableResult
    func purgeMessageTags(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.messageTags.take(before: moment, batch, in: transaction)
    }

    /// Deletes records of deletions from before a time.
    @discardableResult
    func purgeDeletions(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.deletions.take(before: moment, batch, in: transaction)
    }

    private static let notifications = AgedRows(
        of: "user_changes", key: "user_id, kind, target", age: "at", and: "kind = 'NOTIFICATION'")

    /// Deletes notifications from before a time.
    @discardableResult
    func purgeNotifications(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.notifications.take(before: moment, batch, in: transaction)
    }
}
