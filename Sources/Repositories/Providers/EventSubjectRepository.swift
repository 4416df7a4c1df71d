import Database
import Domain

/// The users that receivers removed from their streams (SSF 1.0 §8.1.3): their events are not written there.
package struct EventSubjectRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(Column<EventStreamID>("stream_id"), Column<UserID>("user_id"))

    /// Leaves a user out of a stream; one who is left out stays so.
    package func exclude(_ user: UserID, from stream: EventStreamID) throws {
        try transaction.execute(
            """
            INSERT INTO event_stream_exclusions (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT DO NOTHING
            """, Self.columns.row(stream, user))
    }

    /// Takes a user into a stream again.
    package func restore(_ user: UserID, to stream: EventStreamID) throws {
        try transaction.execute(
            "DELETE FROM event_stream_exclusions WHERE stream_id = $1 AND user_id = $2", [.id(stream), .id(user)])
    }

    package func isExcluded(_ user: UserID, from stream: EventStreamID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM event_stream_exclusions WHERE stream_id = $1 AND user_id = $2", [.id(stream), .id(user)])
            != nil
    }

    /// Whether a stream leaves so many users out, or more.
    package func excludes(_ count: Int, from stream: EventStreamID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM event_stream_exclusions WHERE stream_id = $1 ORDER BY user_id LIMIT 1 OFFSET $2",
            [.id(stream), (count - 1).value]) != nil
    }

    /// Forgets whom a stream leaves out.
    package func clear(_ stream: EventStreamID) throws {
        try transaction.execute("DELETE FROM event_stream_exclusions WHERE stream_id = $1", [.id(stream)])
    }

    /// Forgets that streams leave a user out.
    package func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM event_stream_exclusions WHERE user_id = $1", [.id(user)])
    }
}
