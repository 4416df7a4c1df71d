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
        Field(.messageBody, \.sealedBody) {
            ErasureRepository.hidden("\($0).\(SealedColumn.messageBody.name)", of: "\($0).sender_id")
        })
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

    private static let sizes = ColumnTuple(
        Column<Int64>("sequence"), Column<Int64>("size"),
        Column<UserID?>(ErasureRepository.hidden("stream_events.sender_id", of: "stream_events.sender_id")))

    /// Messages between two numbers, both excluded. Bodies are read up to a total size.
    ///
    /// - Parameters:
    ///   - isForward: whether the oldest come first.
    ///   - bytes: the maximum size of bodies; at least one message is read.
    ///   - ahead: sends further queries with that of the messages, by their senders: see `Transaction/ahead(_:)`.
    /// - Returns: the messages, and whether there are more in that direction.
    func list(
        of stream: MessageStreamID, after: Int64, before: Int64, isForward: Bool, limit: Int, bytes: Int64,
        ahead: (Set<UserID>, any Transaction) throws -> Void = { _, _ in }
    ) throws -> (messages: [StreamMessage], hasMore: Bool) {
        let order = isForward ? "" : " DESC"
        let range = "stream_id = $1 AND sequence > $2 AND sequence < $3"
        let sizes = try transaction.query(
            "SELECT \(Self.sizes) FROM stream_events WHERE \(range) ORDER BY sequence\(order) LIMIT $4",
            [.id(stream), after.value, before.value, (limit + 1).value]
        ).map(Self.sizes.read)
        var (count, sum, senders) = (0, Int64(0), Set<UserID>())
        for (_, size, sender) in sizes.prefix(limit) {
            guard count == 0 || sum + size <= bytes else { break }
            sum += size
            count += 1
            if let sender { senders.insert(sender) }
        }
        guard count > 0 else { return ([], false) }
        func read(_ transaction: any Transaction) throws -> [StreamMessage] {
            try transaction.query(
                Self.columns, "WHERE \(range) ORDER BY sequence\(order) LIMIT $4",
                [.id(stream), after.value, before.value, count.value])
        }
        try transaction.ahead {
            _ = try read($0)
            try ahead(senders, $0)
        }
        let messages = try read(transaction)
        return (messages, sizes.count > count)
    }

    /// Deletes the body of a message. The row keeps its number, and uses the minimum size of its sender's quota until
    /// the stream is deleted.
    ///
    /// - Returns: how many bytes of the sender's quota are released.
    func deleteBody(_ message: StreamMessage) throws -> Int64 {
        let left = min(message.size, StreamMessage.smallestSize)
        try transaction.execute(
            "UPDATE stream_events SET sealed_body = NULL, size = $3 WHERE stream_id = $1 AND sequence = $2",
            [.id(message.streamID), message.sequence.value, left.value])
        return message.size - left
    }

    private static let deletion = ColumnTuple(Column<MessageStreamID>("stream_id"), Column<MessageID>("event_id"))

    /// Every message with a deleted body in an existing stream, for a restore.
    func deletions() throws -> [(stream: MessageStreamID, message: MessageID)] {
        try transaction.query(
            "SELECT \(Self.deletion) FROM stream_events WHERE sealed_body IS NULL ORDER BY stream_id, sequence"
        ).map { row in
            let (stream, message) = try Self.deletion.read(row)
            return (stream, message)
        }
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

    /// Deletes the body and sender of some of a user's own messages.
    ///
    /// - Returns: how many.
    @discardableResult
    func erase(_ user: UserID, limit: Int = 1000) throws -> Int {
        try transaction.execute(
            """
            UPDATE stream_events SET sealed_body = NULL, size = 0, sender_id = NULL WHERE (stream_id, sequence) IN (
                SELECT stream_id, sequence FROM stream_events WHERE sender_id = $1
                ORDER BY sent_at, stream_id, sequence LIMIT \(limit))
            """, [.id(user)])
    }
}
