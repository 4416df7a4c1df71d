import Database
import Domain
import Encoding
import Foundation

/// The messages that have reached each device, in streams with messages that are stored only until then.
package struct StreamDeliveryRepository {
    private let transaction: any Transaction
}

package extension StreamDeliveryRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let isAwaited = "kept_until IS NOT NULL AND sealed_body IS NOT NULL"

    /// Whether a message up to a number is deleted when devices have it.
    func isAwaited(in stream: MessageStreamID, through sequence: Int64) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM stream_events WHERE stream_id = $1 AND sequence <= $2 AND \(Self.isAwaited) LIMIT 1",
            [.id(stream), sequence.value]) != nil
    }

    private static let report = ColumnTuple(
        Column<MessageStreamID>("stream_id"), Column<UserID>("user_id"), Column<DeviceID>("device_id"),
        Column<Int64>("through"), Column<Bool>("is_new"))

    /// Records that a device has the messages up to a number. A lower number changes nothing.
    func report(_ through: Int64, on device: DeviceID, of user: UserID, in stream: MessageStreamID) throws {
        try transaction.enqueue(
            """
            INSERT INTO stream_deliveries (\(Self.report)) VALUES (\(Self.report.placeholders))
            ON CONFLICT (stream_id, user_id, device_id) DO UPDATE SET through = excluded.through, is_new = 1
            WHERE stream_deliveries.through < excluded.through
            """, Self.report.row(stream, user, device, through, true))
    }

    func erase(_ user: UserID, in stream: MessageStreamID) throws {
        try transaction.enqueue(
            "DELETE FROM stream_deliveries WHERE stream_id = $1 AND user_id = $2", [.id(stream), .id(user)])
    }

    // MARK: Maintenance

    /// The number of the last message that all active devices of all members have; 0 while a member has none.
    ///
    /// A device is active if it has a session of the member that has not ended and was used lately, or has registered
    /// for pushes lately: the session of a phone that sleeps for days is deleted before.
    func delivered(in stream: MessageStreamID) throws -> Int64 {
        let since = Value.time(transaction.now.addingTimeInterval(-MessageStorage.activity))
        let ofSessions: Int64 =
            try transaction.value(
                """
                SELECT COALESCE(MIN(COALESCE(d.through, 0)), 0) FROM stream_members m
                LEFT JOIN sessions s ON s.user_id = m.user_id AND s.state <> 'unauthenticated' AND s.last_used_at > $2
                    AND \(GenerationRepository.isCurrent("s"))
                LEFT JOIN stream_deliveries d
                    ON d.stream_id = m.stream_id AND d.user_id = m.user_id AND d.device_id = s.device_id
                WHERE m.stream_id = $1 AND m.left_at_sequence IS NULL
                """, [.id(stream), since]) ?? 0
        let ofPushes: Int64? = try transaction.value(
            """
            SELECT COALESCE(MIN(COALESCE(d.through, 0)), \(Int64.max)) FROM stream_members m
            JOIN push_endpoints p ON p.user_id = m.user_id AND p.registered_at > $2
                AND \(GenerationRepository.isCurrent("p"))
            LEFT JOIN stream_deliveries d
                ON d.stream_id = m.stream_id AND d.user_id = m.user_id AND d.device_id = p.device_id
            WHERE m.stream_id = $1 AND m.left_at_sequence IS NULL
            """, [.id(stream), since])
        return min(ofSessions, ofPushes ?? .max)
    }

    /// The streams that are processed in a batch.
    private static let streams = 20

    /// Deletes the bodies of messages that all devices have, in streams with new reports.
    ///
    /// The reports are marked as read first, which locks their rows. So a report of the same time is new for the next
    /// batch.
    func expireDelivered(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let found: [MessageStreamID] = try transaction.values(
            "SELECT DISTINCT stream_id FROM stream_deliveries WHERE is_new = 1 ORDER BY stream_id LIMIT \(Self.streams)"
        )
        var rows = 0
        for stream in found where rows < batch.limit {
            rows += try transaction.execute(
                "UPDATE stream_deliveries SET is_new = 0 WHERE stream_id = $1 AND is_new = 1", [.id(stream)])
            let limit = max(1, batch.limit - rows)
            let expired = try expire(
                """
                UPDATE stream_events SET sealed_body = NULL WHERE (stream_id, sequence) IN (
                    SELECT stream_id, sequence FROM stream_events
                    WHERE stream_id = $1 AND sequence <= $2 AND \(Self.isAwaited) ORDER BY sequence LIMIT \(limit)
                ) AND \(Self.isAwaited)
                """, [.id(stream), try delivered(in: stream).value])
            rows += expired.count
            if expired.count == limit {
                try transaction.execute("UPDATE stream_deliveries SET is_new = 1 WHERE stream_id = $1", [.id(stream)])
            }
        }
        return MaintenanceBatch.Outcome(rows: rows, isFinished: found.isEmpty)
    }

    private static let old = AgedRows(
        "UPDATE stream_events SET sealed_body = NULL", of: "stream_events", key: "stream_id, sequence",
        age: "kept_until", and: isAwaited)

    /// Deletes the bodies of messages that were kept for the longest time.
    func expireOld(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let expired = try expire(
            Self.old.statement(limit: batch.limit, returning: Self.expired.description),
            Self.old.arguments(before: transaction.now.milliseconds, batch), returnsRows: true)
        return Self.old.outcome(expired, of: batch)
    }

    private static let expired = ColumnTuple(
        Column<MessageStreamID>("stream_id"), Column<Int64>("sequence"), Column<UserID?>("sender_id"),
        Column<Int64>("size"), Column<Int64>("kept_until"))

    /// Runs a statement that deletes bodies, which locks their rows, then deletes the messages' metadata and releases the
    /// quotas. Members are not notified, because their devices keep what they have.
    ///
    /// - Returns: until when each message was kept.
    private func expire(_ act: String, _ arguments: [Value], returnsRows: Bool = false) throws -> [Int64] {
        let rows = try transaction.query(
            returnsRows ? act : "\(act) RETURNING \(Self.expired)", arguments
        ).map(Self.expired.read)
        var released: [UserID: Int64] = [:]
        let metadata = MessageMetadataRepository(transaction)
        for (stream, sequence, sender, size, _) in rows {
            released.merge(try metadata.deleteAll(ofMessage: sequence, in: stream), uniquingKeysWith: +)
            guard size > StreamMessage.smallestSize else { continue }
            try transaction.enqueue(
                "UPDATE stream_events SET size = $3 WHERE stream_id = $1 AND sequence = $2",
                [.id(stream), sequence.value, StreamMessage.smallestSize.value])
            if let sender { released[sender, default: 0] += size - StreamMessage.smallestSize }
        }
        try StreamUserRepository(transaction).release(bytes: released)
        return rows.map { $0.4 }
    }
}
