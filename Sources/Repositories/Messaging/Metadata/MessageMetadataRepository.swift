import Database
import Domain

/// Metadata of messages, sealed: those that all members see, and those of each reader.
///
/// A reader's row without metadata means that the reader deleted the message for the reader only. No row has metadata
/// of a deleted message.
package struct MessageMetadataRepository {
    let transaction: any Transaction

    private static let shared = Table<Shared>(
        "stream_event_metadata", Shared.init,
        Field("stream_id", \.streamID),
        Field("sequence", \.sequence),
        Field("writer_id", \.writerID),
        Field("size", \.size),
        Field(.messageMetadata, \.sealed))
    private static let own = Table<Own>(
        "stream_event_readers", Own.init,
        Field("stream_id", \.streamID),
        Field("sequence", \.sequence),
        Field("user_id", \.userID),
        Field("size", \.size),
        Field(.readerMetadata, \.sealed))

}

// Each value is read by a separate subquery, so that its plan is a look-up by the primary key, whatever the statistics.
extension MessageMetadataRepository {
    /// An expression: a column of the metadata that all members see; null if there are none.
    ///
    /// - Parameter event: the name of `stream_events` in the statement.
    static func shared(_ column: String, of event: String) -> String {
        """
        (SELECT sm.\(column) FROM stream_event_metadata sm
         WHERE sm.stream_id = \(event).stream_id AND sm.sequence = \(event).sequence)
        """
    }

    /// An expression: a column of a reader's row; null if there is none.
    ///
    /// - Parameter user: an expression.
    static func own(_ column: String, of event: String, for user: String) -> String {
        """
        (SELECT sr.\(column) FROM stream_event_readers sr
         WHERE sr.stream_id = \(event).stream_id AND sr.sequence = \(event).sequence AND sr.user_id = \(user))
        """
    }

    /// An expression: the id of the message of a row.
    static func message(of row: String) -> String {
        """
        (SELECT e.event_id FROM stream_events e
         WHERE e.stream_id = \(row).stream_id AND e.sequence = \(row).sequence)
        """
    }

    /// An expression: a body, or null if the reader deleted the message for the reader only.
    static func visible(_ body: String, of event: String, to user: String) -> String {
        """
        CASE WHEN (SELECT 1 FROM stream_event_readers sr
            WHERE sr.stream_id = \(event).stream_id AND sr.sequence = \(event).sequence AND sr.user_id = \(user)
                AND sr.sealed_metadata IS NULL) IS NULL
        THEN \(body) END
        """
    }
}

package extension MessageMetadataRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The bytes that sealed metadata take in a quota. Short metadata take a row, too.
    static func size(of sealed: [UInt8]?) -> Int64 {
        sealed.map { max(StreamMessage.smallestSize, Int64($0.count)) } ?? 0
    }

    // MARK: One message

    func shared(of message: StreamMessage) throws -> Shared? {
        try transaction.first(
            Self.shared, "WHERE stream_id = $1 AND sequence = $2", [.id(message.streamID), message.sequence.value])
    }

    func own(of message: StreamMessage, for user: UserID) throws -> Own? {
        try transaction.first(
            Self.own, "WHERE stream_id = $1 AND sequence = $2 AND user_id = $3",
            [.id(message.streamID), message.sequence.value, .id(user)])
    }

    /// Stores the metadata that all members see, or deletes them.
    func setShared(_ sealed: [UInt8]?, of message: StreamMessage, by writer: UserID) throws {
        guard let sealed else {
            return try transaction.enqueue(
                "DELETE FROM stream_event_metadata WHERE stream_id = $1 AND sequence = $2",
                [.id(message.streamID), message.sequence.value])
        }
        let row = Shared(
            streamID: message.streamID, sequence: message.sequence, writerID: writer, size: Self.size(of: sealed),
            sealed: sealed)
        try transaction.enqueue(
            """
            \(Self.shared.insertion) ON CONFLICT (stream_id, sequence) DO UPDATE
            SET \(Self.shared.overwriting(except: ["stream_id", "sequence"]))
            """, Self.shared.row(row))
    }

    /// Stores the metadata that only the reader sees, or deletes them.
    func setOwn(_ sealed: [UInt8]?, of message: StreamMessage, for user: UserID) throws {
        guard let sealed else {
            return try transaction.enqueue(
                "DELETE FROM stream_event_readers WHERE stream_id = $1 AND sequence = $2 AND user_id = $3",
                [.id(message.streamID), message.sequence.value, .id(user)])
        }
        try put(
            Own(
                streamID: message.streamID, sequence: message.sequence, userID: user, size: Self.size(of: sealed),
                sealed: sealed))
    }

    /// Deletes a message for one reader, with the reader's metadata. The reader's row stays as a record outside all
    /// quotas, so that a full quota never prevents a deletion.
    func deleteCopy(of message: StreamMessage, for user: UserID) throws {
        try put(Own(streamID: message.streamID, sequence: message.sequence, userID: user, size: 0, sealed: nil))
    }

    private func put(_ row: Own) throws {
        try transaction.enqueue(
            """
            \(Self.own.insertion) ON CONFLICT (stream_id, sequence, user_id) DO UPDATE
            SET \(Self.own.overwriting(except: ["stream_id", "sequence", "user_id"]))
            """, Self.own.row(row))
    }

    // MARK: Reading for a user

    /// A message whose metadata changed, with the metadata as one user sees them.
    typealias Changed = (message: MessageID, sequence: Int64, shared: [UInt8]?, own: [UInt8]?)

    private static let changed = ColumnTuple(
        Column<Int64>("c.sequence"), Column<MessageID>("e.event_id"), Column<Int64>("e.sequence"),
        Column<[UInt8]?>(shared(SealedColumn.messageMetadata.name, of: "e")),
        Column<[UInt8]?>(own(SealedColumn.readerMetadata.name, of: "e", for: "c.user_id")))

    /// The messages of a user's changes of metadata between two numbers, by the number of the change. Deleted messages
    /// are left out.
    func changed(of user: UserID, from first: Int64, through last: Int64) throws -> [Int64: Changed] {
        let body = StreamMessageRepository.body(of: "e", for: "c.user_id")
        let rows = try transaction.query(
            """
            SELECT \(Self.changed) FROM user_changes c
            JOIN stream_events e ON e.stream_id = c.stream_id AND e.event_id = \(StreamUserRepository.message("c.target"))
            WHERE c.user_id = $1 AND c.kind = 'UPDATE_TAGS' AND c.sequence >= $2 AND c.sequence <= $3
                AND (\(body)) IS NOT NULL
            """, [.id(user), first.value, last.value]
        ).map(Self.changed.read)
        return rows.reduce(into: [:]) { found, row in
            found[row.0] = (row.1, row.2, row.3, row.4)
        }
    }

    /// A reader's own metadata, for the export.
    typealias Exported = (stream: MessageStreamID, sequence: Int64, message: MessageID, sealed: [UInt8])

    private static let exported = ColumnTuple(
        Column<MessageStreamID>("r.stream_id"), Column<Int64>("r.sequence"), Column<MessageID>(message(of: "r")),
        Column<[UInt8]>("r.\(SealedColumn.readerMetadata.name)"))

    /// A user's own metadata after a mark, by stream and number.
    func list(of user: UserID, after mark: Exported?, limit: Int) throws -> [Exported] {
        try transaction.query(
            """
            SELECT \(Self.exported) FROM stream_event_readers r
            WHERE r.user_id = $1 AND r.sealed_metadata IS NOT NULL AND (r.stream_id, r.sequence) > ($2, $3)
                AND NOT \(ErasureRepository.isUnderWay("r.user_id"))
            ORDER BY r.stream_id, r.sequence LIMIT $4
            """, [.id(user), .text(mark?.stream.description ?? ""), (mark?.sequence ?? 0).value, limit.value]
        ).map { row in
            let (stream, sequence, message, sealed) = try Self.exported.read(row)
            return (stream, sequence, message, sealed)
        }
    }

    /// Metadata that all members see, as stored.
    struct Shared: Sendable, Equatable {
        let streamID: MessageStreamID
        let sequence: Int64
        /// The user who changed them last, whose quota contains them; `nil` after that user's erasure.
        package let writerID: UserID?
        package let size: Int64
        package let sealed: [UInt8]
    }

    /// A reader's row, as stored.
    struct Own: Sendable, Equatable {
        let streamID: MessageStreamID
        let sequence: Int64
        let userID: UserID
        package let size: Int64
        /// `nil` if the reader deleted the message.
        package let sealed: [UInt8]?
    }
}
