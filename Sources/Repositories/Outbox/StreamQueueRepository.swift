import Database
import Domain
import Foundation

/// The waiting events of a stream: rows of the outbox with the stream as their subject.
package struct StreamQueueRepository {
    private let transaction: any Transaction
    private let stream: Value
}

package extension StreamQueueRepository {
    init(_ transaction: any Transaction, of stream: EventStreamID) {
        self.transaction = transaction
        self.stream = .id(stream)
    }

    private static let columns = OutboxRepository.columns
    private static let polled = "subject = $1 AND kind = 'polled_event' AND state = 'waiting'"
    private static let pushed = "subject = $1 AND kind = 'provider_event' AND state = 'waiting'"

    /// The events that a receiver may poll now, oldest first.
    func waiting(limit: Int) throws -> [OutboxMessage] {
        try transaction.query(
            Self.columns,
            """
            WHERE \(Self.polled) AND expires_at > $2
            ORDER BY created_at, id LIMIT $3
            """, [stream, .time(transaction.now), limit.value])
    }

    /// The number of events that one statement ends.
    private static let atOnce = 50

    /// Ends acknowledged events of a polled stream. Other events, such as those that ended before, are unchanged.
    func acknowledge(_ ids: [OutboxMessageID]) throws {
        for start in stride(from: 0, to: ids.count, by: Self.atOnce) {
            let part = ids[start..<min(start + Self.atOnce, ids.count)]
            let places = part.indices.map { "$\($0 - start + 4)" }.joined(separator: ", ")
            try transaction.execute(
                """
                UPDATE outbox SET state = 'sent', ended_at = $2, payload = $3 WHERE id IN (\(places)) AND \(Self.polled)
                """, [stream, .time(transaction.now), .bytes([])] + part.map { .id($0) })
        }
    }

    /// The ids that no event of the stream has, waiting or ended.
    func unknown(among ids: [OutboxMessageID]) throws -> [OutboxMessageID] {
        var known: Set<OutboxMessageID> = []
        for start in stride(from: 0, to: ids.count, by: Self.atOnce) {
            let part = ids[start..<min(start + Self.atOnce, ids.count)]
            let places = part.indices.map { "$\($0 - start + 2)" }.joined(separator: ", ")
            let found: [OutboxMessageID] = try transaction.values(
                "SELECT id FROM outbox WHERE id IN (\(places)) AND subject = $1", [stream] + part.map { .id($0) })
            known.formUnion(found)
        }
        return ids.filter { !known.contains($0) }
    }

    /// Ends a polled event that its receiver refused.
    ///
    /// - Returns: whether it waited in the stream.
    func refuse(_ id: OutboxMessageID, because reason: String) throws -> Bool {
        try transaction.execute(
            "UPDATE outbox SET state = 'dead', ended_at = $3, reason = $4 WHERE id = $2 AND \(Self.polled)",
            [stream, .id(id), .time(transaction.now), .text(reason)]) > 0
    }

    /// Whether more than a number of events wait.
    func holdsMore(than count: Int) throws -> Bool {
        for queue in [(Self.polled, "created_at"), (Self.pushed, "due_at")] {
            let found = try transaction.first(
                "SELECT 1 FROM outbox WHERE \(queue.0) ORDER BY \(queue.1), id LIMIT 1 OFFSET $2",
                [stream, count.value])
            if found != nil { return true }
        }
        return false
    }

    func clear() throws {
        for queue in [Self.polled, Self.pushed] {
            try transaction.execute("DELETE FROM outbox WHERE \(queue)", [stream])
        }
    }

    /// Moves waiting events to the other delivery method. A running attempt can no longer be settled, so its event is
    /// delivered by the other method too, under the same id. All events are due now, so that senders find them.
    func move(toPoll: Bool) throws {
        try transaction.execute(
            """
            UPDATE outbox SET kind = '\(toPoll ? "polled_event" : "provider_event")', due_at = $2, lease = NULL,
                leased_until = NULL
            WHERE \(toPoll ? Self.pushed : Self.polled)
            """, [stream, .time(transaction.now)])
    }
}
