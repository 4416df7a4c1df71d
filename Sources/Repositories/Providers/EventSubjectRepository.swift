import Database
import Domain

/// The users that receivers removed from their streams (SSF 1.0 §8.1.3), whose events are not sent there.
package struct EventSubjectRepository {
    private let transaction: any Transaction
}

package extension EventSubjectRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(Column<EventStreamID>("stream_id"), Column<UserID>("user_id"))

    /// Excludes a user from a stream, unless excluded already.
    func exclude(_ user: UserID, from stream: EventStreamID) throws {
        try transaction.execute(
            """
            INSERT INTO event_stream_exclusions (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT DO NOTHING
            """, Self.columns.row(stream, user))
    }

    /// Includes a user in a stream again.
    func restore(_ user: UserID, to stream: EventStreamID) throws {
        try transaction.execute(
            "DELETE FROM event_stream_exclusions WHERE stream_id = $1 AND user_id = $2", [.id(stream), .id(user)])
    }

    func isExcluded(_ user: UserID, from stream: EventStreamID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM event_stream_exclusions WHERE stream_id = $1 AND user_id = $2", [.id(stream), .id(user)])
            != nil
    }

    /// Whether a stream excludes at least this number of users.
    func excludes(_ count: Int, from stream: EventStreamID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM event_stream_exclusions WHERE stream_id = $1 ORDER BY user_id LIMIT 1 OFFSET $2",
            [.id(stream), (count - 1).value]) != nil
    }

    /// Deletes all exclusions of a stream.
    func clear(_ stream: EventStreamID) throws {
        try transaction.execute("DELETE FROM event_stream_exclusions WHERE stream_id = $1", [.id(stream)])
    }

    /// Deletes all exclusions of a user.
    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM event_stream_exclusions WHERE user_id = $1", [.id(user)])
    }
}
