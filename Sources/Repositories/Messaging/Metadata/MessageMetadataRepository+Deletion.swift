import Database
import Domain

/// Deletions of metadata, which release bytes of quotas.
package extension MessageMetadataRepository {
    private static let released = ColumnTuple(Column<UserID?>("writer_id"), Column<Int64>("size"))
    private static let releasedOwn = ColumnTuple(Column<UserID?>("user_id"), Column<Int64>("size"))

    /// Deletes all metadata of a message, and the records of readers who deleted it.
    ///
    /// - Returns: the bytes of each user's quota that are released.
    func deleteAll(ofMessage sequence: Int64, in stream: MessageStreamID) throws -> [UserID: Int64] {
        let place = [Value.id(stream), sequence.value]
        let shared = try transaction.query(
            "DELETE FROM stream_event_metadata WHERE stream_id = $1 AND sequence = $2 RETURNING \(Self.released)", place
        ).map(Self.released.read)
        let own = try transaction.query(
            "DELETE FROM stream_event_readers WHERE stream_id = $1 AND sequence = $2 RETURNING \(Self.releasedOwn)",
            place
        ).map(Self.releasedOwn.read)
        return Self.sum(shared + own)
    }

    /// Deletes some rows of a stream's messages. Returns their number, 0 if none was left.
    func delete(of stream: MessageStreamID, limit: Int) throws -> Int {
        try delete([.id(stream)], limit: limit) { "FROM \($0) r WHERE r.stream_id = $1" }
    }

    /// Deletes some rows of messages that a statement selects by stream and number. Returns their number.
    func delete(ofMessages messages: String, _ arguments: [Value], limit: Int) throws -> Int {
        try delete(arguments, limit: limit) {
            "FROM (\(messages)) AS o JOIN \($0) r ON r.stream_id = o.stream_id AND r.sequence = o.sequence"
        }
    }

    /// - Parameter source: returns the part of a statement that selects rows `r` of a table.
    private func delete(_ arguments: [Value], limit: Int, _ source: (_ table: String) -> String) throws -> Int {
        let own = try transaction.query(
            """
            DELETE FROM stream_event_readers WHERE (stream_id, sequence, user_id) IN (
                SELECT r.stream_id, r.sequence, r.user_id \(source("stream_event_readers")) LIMIT \(limit))
            RETURNING \(Self.releasedOwn)
            """, arguments
        ).map(Self.releasedOwn.read)
        let left = limit - own.count
        let shared =
            try left <= 0
            ? []
            : transaction.query(
                """
                DELETE FROM stream_event_metadata WHERE (stream_id, sequence) IN (
                    SELECT r.stream_id, r.sequence \(source("stream_event_metadata")) LIMIT \(limit))
                RETURNING \(Self.released)
                """, arguments
            ).map(Self.released.read)
        try StreamUserRepository(transaction).release(bytes: Self.sum(own + shared))
        return own.count + shared.count
    }

    private static func sum(_ rows: [(UserID?, Int64)]) -> [UserID: Int64] {
        rows.reduce(into: [:]) { sum, row in
            if let user = row.0, row.1 > 0 { sum[user, default: 0] += row.1 }
        }
    }

    // MARK: Erasure

    /// Deletes some of an erased user's rows as a reader, then removes the user as the writer of some metadata that
    /// others still see. Returns the number of rows.
    @discardableResult
    func erase(_ user: UserID, limit: Int = 1000) throws -> Int {
        let own = try transaction.execute(
            """
            DELETE FROM stream_event_readers WHERE (stream_id, sequence, user_id) IN (
                SELECT stream_id, sequence, user_id FROM stream_event_readers WHERE user_id = $1
                ORDER BY stream_id, sequence LIMIT \(limit))
            """, [.id(user)])
        guard own == 0 else { return own }
        return try transaction.execute(
            """
            UPDATE stream_event_metadata SET writer_id = NULL WHERE (stream_id, sequence) IN (
                SELECT stream_id, sequence FROM stream_event_metadata WHERE writer_id = $1 LIMIT \(limit))
            """, [.id(user)])
    }

    // MARK: Restore

    /// A message that a reader deleted for the reader only.
    struct DeletedCopy: Sendable {
        fileprivate let stream: MessageStreamID
        fileprivate let message: MessageID
        fileprivate let user: UserID
    }

    private static let deletedCopy = ColumnTuple(
        Column<MessageStreamID>("r.stream_id"), Column<MessageID>(message(of: "r")), Column<UserID>("r.user_id"))

    /// Every message that a reader deleted for the reader only, for a restore.
    func deletedCopies() throws -> [DeletedCopy] {
        try transaction.query(
            """
            SELECT \(Self.deletedCopy) FROM stream_event_readers r WHERE r.sealed_metadata IS NULL
            ORDER BY r.stream_id, r.sequence
            """
        ).map(Self.deletedCopy.read).map { DeletedCopy(stream: $0, message: $1, user: $2) }
    }

    /// Deletes a message for a reader again; without effect if the message or the user is unknown here.
    func delete(again copy: DeletedCopy) throws {
        guard let message = try StreamMessageRepository(transaction).find(copy.message, in: copy.stream),
            message.sealedBody != nil,
            try StreamMemberRepository(transaction).find(copy.user, in: copy.stream) != nil
        else { return }
        let released = try own(of: message, for: copy.user)?.size ?? 0
        try deleteCopy(of: message, for: copy.user)
        try StreamUserRepository(transaction).release(bytes: released, of: copy.user)
    }
}
