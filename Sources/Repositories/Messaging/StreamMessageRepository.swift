import Database
import Domain
import Foundation

package struct StreamMessageRepository {
    private let transaction: any Transaction

    static let columns = Table<StreamMessage>(
        "stream_events", StreamMessage.init,
        Field("stream_id", \.streamID),
        Field("sequence", \.sequence),
        Field("event_id", \.id),
        Field("sender_id", \.senderID) { ErasureRepository.hidden("\($0).sender_id", of: "\($0).sender_id") },
        Field("sent_at", \.sentAt),
        Field("in_reply_to", \.inReplyTo),
        Field("thread_id", \.thread),
        Field("size", \.size),
        Field(.messageBody, \.sealedBody, readAs: { body(of: $0) }),
        Field("kept_until", \.keptUntil, readAs: { keptUntil(of: $0) }))

    /// An expression: the body of a message, or null if its sender is being erased.
    private static func body(of event: String) -> String {
        ErasureRepository.hidden("\(event).\(SealedColumn.messageBody.name)", of: "\(event).sender_id")
    }

    /// An expression: when a message expires at the latest, or null if its sender is being erased.
    private static func keptUntil(of event: String) -> String {
        ErasureRepository.hidden("\(event).kept_until", of: "\(event).sender_id")
    }

    /// An expression: the body of a message, or null if the message is deleted for a reader.
    static func body(of event: String, for user: String) -> String {
        MessageMetadataRepository.visible(body(of: event), of: event, to: user)
    }
}

package extension StreamMessageRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Inserts a message under the number that its stream assigned.
    func insert(_ message: StreamMessage) throws {
        try transaction.enqueue(Self.columns.insertion, Self.columns.row(message))
    }

    func find(_ id: MessageID, in stream: MessageStreamID) throws -> StreamMessage? {
        try transaction.first(Self.columns, "WHERE stream_id = $1 AND event_id = $2", [.id(stream), .id(id)])
    }

    func find(_ sequence: Int64, in stream: MessageStreamID) throws -> StreamMessage? {
        try transaction.first(Self.columns, "WHERE stream_id = $1 AND sequence = $2", [.id(stream), sequence.value])
    }

    /// The newest messages after a number, the newest first.
    func newest(after: Int64, in stream: MessageStreamID, limit: Int) throws -> [StreamMessage] {
        try transaction.query(
            Self.columns, "WHERE stream_id = $1 AND sequence > $2 ORDER BY sequence DESC LIMIT $3",
            [.id(stream), after.value, limit.value])
    }

    /// A message as a reader sees it: without a body if it is deleted for the reader. The metadata that all members see,
    /// and the reader's own, are sealed.
    typealias Read = (message: StreamMessage, shared: [UInt8]?, own: [UInt8]?)

    private static let sizes = ColumnTuple(
        Column<Int64>("e.sequence"),
        Column<Int64>(
            "e.size + COALESCE(\(MessageMetadataRepository.shared("size", of: "e")), 0)"
                + " + COALESCE(\(MessageMetadataRepository.own("size", of: "e", for: "$5")), 0)"),
        Column<UserID?>(ErasureRepository.hidden("e.sender_id", of: "e.sender_id")))
    private static let reading = ColumnTuple(
        columns.of("e"),
        Column<[UInt8]?>(MessageMetadataRepository.shared(SealedColumn.messageMetadata.name, of: "e")),
        Column<[UInt8]?>(MessageMetadataRepository.own(SealedColumn.readerMetadata.name, of: "e", for: "$5")))
    private static let read = reading.description
        .replacing(body(of: "e"), with: body(of: "e", for: "$5"))
        .replacing(
            keptUntil(of: "e"), with: MessageMetadataRepository.visible(keptUntil(of: "e"), of: "e", to: "$5"))

    /// Messages between two numbers, both excluded. Bodies and metadata are read up to a total size.
    ///
    /// - Parameters:
    ///   - user: the reader.
    ///   - isForward: whether the oldest come first.
    ///   - bytes: the maximum size of bodies and metadata; at least one message is read.
    ///   - ahead: sends further queries with that of the messages, by their senders: see `Transaction/ahead(_:)`.
    /// - Returns: the messages, and whether there are more in that direction.
    func list(
        of stream: MessageStreamID, for user: UserID, after: Int64, before: Int64, isForward: Bool, limit: Int,
        bytes: Int64, ahead: (Set<UserID>, any Transaction) throws -> Void = { _, _ in }
    ) throws -> (messages: [Read], hasMore: Bool) {
        let order = isForward ? "" : " DESC"
        let range = "e.stream_id = $1 AND e.sequence > $2 AND e.sequence < $3"
        func rows(_ columns: String, limit: Int, in transaction: any Transaction) throws -> [Row] {
            try transaction.query(
                "SELECT \(columns) FROM stream_events e WHERE \(range) ORDER BY e.sequence\(order) LIMIT $4",
                [.id(stream), after.value, before.value, limit.value, .id(user)])
        }
        let sizes = try rows(Self.sizes.description, limit: limit + 1, in: transaction).map(Self.sizes.read)
        var (count, sum, senders) = (0, Int64(0), Set<UserID>())
        for (_, size, sender) in sizes.prefix(limit) {
            guard count == 0 || sum + size <= bytes else { break }
            sum += size
            count += 1
            if let sender { senders.insert(sender) }
        }
        guard count > 0 else { return ([], false) }
        try transaction.ahead {
            _ = try rows(Self.read, limit: count, in: $0)
            try ahead(senders, $0)
        }
        let messages = try rows(Self.read, limit: count, in: transaction).map { row in
            let (message, shared, own) = try Self.reading.read(row)
            return (message: message, shared: shared, own: own)
        }
        return (messages, sizes.count > count)
    }

    /// Deletes the body of a message and its metadata. The row keeps its number, and uses the minimum size of its
    /// sender's quota until the stream is deleted.
    ///
    /// - Parameter expiry: for a message that no user deleted, when it expired at the latest.
    /// - Returns: how many bytes of each user's quota are released.
    func deleteBody(_ message: StreamMessage, expiry: Date? = nil) throws -> [UserID: Int64] {
        var released = try MessageMetadataRepository(transaction).deleteAll(
            ofMessage: message.sequence, in: message.streamID)
        let left = min(message.size, StreamMessage.smallestSize)
        try transaction.execute(
            """
            UPDATE stream_events SET sealed_body = NULL, size = $3, kept_until = $4 WHERE stream_id = $1 AND sequence = $2
            """, [.id(message.streamID), message.sequence.value, left.value, expiry.map { .time($0) } ?? .null])
        if let sender = message.senderID { released[sender, default: 0] += message.size - left }
        return released
    }

    /// A message without a body, for a restore, and when it expired at the latest; `nil` if a user deleted it.
    typealias Deletion = (stream: MessageStreamID, message: MessageID, expiry: Date?)

    private static let deletion = ColumnTuple(
        Column<MessageStreamID>("stream_id"), Column<MessageID>("event_id"), Column<Date?>("kept_until"))

    /// Every message with a deleted body in an existing stream, for a restore.
    func deletions() throws -> [Deletion] {
        try transaction.query(
            "SELECT \(Self.deletion) FROM stream_events WHERE sealed_body IS NULL ORDER BY stream_id, sequence"
        ).map(Self.deletion.read).map { (stream: $0, message: $1, expiry: $2) }
    }

    /// A user's own messages after a mark, without deleted ones, oldest first.
    func list(
        sentBy user: UserID, after mark: StreamMessage?, limit: Int
    ) throws -> [StreamMessage] {
        try transaction.query(
            Self.columns,
            """
            WHERE sender_id = $1 AND sealed_body IS NOT NULL AND (sent_at, stream_id, sequence) > ($2, $3, $4)
                AND NOT \(ErasureRepository.isUnderWay("stream_events.sender_id"))
            ORDER BY sent_at, stream_id, sequence LIMIT $5
            """,
            [
                .id(user), mark.map { .time($0.sentAt) } ?? .integer(.min),
                .text(mark?.streamID.description ?? ""), (mark?.sequence ?? 0).value, limit.value,
            ])
    }

    /// Deletes the metadata of some of a user's own messages, or their bodies and sender if they have none.
    ///
    /// - Returns: how many rows.
    @discardableResult
    func erase(_ user: UserID, limit: Int = 1000) throws -> Int {
        let messages = """
            SELECT stream_id, sequence FROM stream_events WHERE sender_id = $1
            ORDER BY sent_at, stream_id, sequence LIMIT \(limit)
            """
        let metadata = try MessageMetadataRepository(transaction).delete(
            ofMessages: messages, [.id(user)], limit: limit)
        guard metadata == 0 else { return metadata }
        return try transaction.execute(
            """
            UPDATE stream_events SET sealed_body = NULL, size = 0, sender_id = NULL, kept_until = NULL
            WHERE (stream_id, sequence) IN (\(messages))
            """, [.id(user)])
    }
}
