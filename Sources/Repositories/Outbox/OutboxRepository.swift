import Database
import Domain
import Foundation

/// Messages that are written in the transaction that caused them and sent after it (the outbox pattern).
///
/// A sender leases a message, tries, and settles it. If a lease is not settled, it expires and the message is tried
/// again. So each message is sent at least once, and twice only if a process died between sending and settling.
package struct OutboxRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Selection(OutboxColumns.self)
    /// Kinds that only a newer build knows are left to it.
    private static let kinds = names(of: OutboxKind.allCases)
    private static let isFree = "state = 'waiting' AND due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)"

    private static func names(of kinds: [OutboxKind]) -> String {
        kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    /// Waiting messages of a kind that is not shared among providers, in the words of their index: SQLite takes a
    /// partial index only if the statement repeats its condition.
    private static func isWaiting(_ kind: String) -> String {
        "state = 'waiting' AND kind = \(kind) AND kind <> 'provider_event'"
    }

    private static let insertion = """
        INSERT INTO outbox (\(columns.all)) VALUES (\(columns.placeholders))
        ON CONFLICT (deduplication_key) DO NOTHING
        """

    /// Inserts a message; `false` if the same one was inserted before.
    package func insert(_ message: OutboxMessage) throws -> Bool {
        try transaction.execute(Self.insertion, Self.columns.row { $0.write(message, to: &$1) }) > 0
    }

    /// Writes a message that no other one is the same as.
    package func enqueueInsert(_ message: OutboxMessage) throws {
        try transaction.enqueue(Self.insertion, Self.columns.row { $0.write(message, to: &$1) })
    }

    /// Leases the messages that have been due longest, up to the given number of each kind, and counts a try for
    /// each. It first ends the expired ones.
    ///
    /// Senders that lease at once pass over each other's rows: the transaction is to be one of `Database/maintain(_:)`, in
    /// which nobody is taken back because of another.
    ///
    /// All nodes together send at most as many events to one provider at once as `ReceiverBreaker` allows. A slow
    /// receiver thus uses only its own slots.
    package func lease(
        _ lease: String, _ slots: [OutboxKind: Int], for seconds: TimeInterval
    ) throws -> [OutboxMessage] {
        let now = Value.time(transaction.now)
        try transaction.execute(
            """
            WITH past(id) AS (
                SELECT id FROM outbox WHERE expires_at <= $1 AND \(Self.isFree) AND kind IN (\(Self.kinds))
                ORDER BY expires_at LIMIT 1000\(transaction.lockingFreeRows)
            )
            UPDATE outbox SET state = 'expired', ended_at = $1, reason = 'past its time', payload = $2
            WHERE id IN (SELECT id FROM past) AND \(Self.isFree)
            """, [now, .bytes([])])
        var leased: [OutboxMessage] = []
        for kind in OutboxKind.allCases {
            guard let count = slots[kind], count > 0 else { continue }
            guard kind == .providerEvent else {
                leased += try take(lease, Self.isWaiting("'\(kind.rawValue)'"), [], count, for: seconds)
                continue
            }
            // How many of a receiver's events are under way is counted by one sender at a time.
            _ = try transaction.query(
                "SELECT 1 FROM outbox_turns WHERE kind = 'provider_event'\(transaction.lockingRows)")
            for (receiver, places) in ReceiverQueue.starts(among: try queues(), count: count, now: transaction.now) {
                leased += try take(
                    lease, "kind = 'provider_event' AND subject = $4", [.text(receiver)], places, for: seconds)
            }
        }
        return leased
    }

    /// Leases some. The limit is part of the text: a planner takes an unknown one for a tenth of the table, and walks it.
    private func take(
        _ lease: String, _ which: String, _ more: [Value], _ count: Int, for seconds: TimeInterval
    ) throws -> [OutboxMessage] {
        try transaction.query(
            """
            WITH due(id) AS (
                SELECT id FROM outbox WHERE \(which) AND \(Self.isFree) AND expires_at > $1
                ORDER BY due_at, id LIMIT \(count)\(transaction.lockingFreeRows)
            )
            UPDATE outbox SET lease = $2, leased_until = $3, tries = tries + 1
            WHERE id IN (SELECT id FROM due) AND \(Self.isFree)
            RETURNING \(Self.columns)
            """,
            [.time(transaction.now), .text(lease), .time(transaction.now.addingTimeInterval(seconds))] + more
        ).map(Self.columns.each.message)
    }

    private static let waiting = "o.state = 'waiting' AND o.kind = 'provider_event'"
    private static let queue = ColumnTuple(
        Column<String>("w.subject"), Column<String>("COALESCE(e.provider_id, w.subject)"),
        Column<Date?>(
            """
            (
                SELECT o.due_at FROM outbox o WHERE \(waiting) AND o.subject = w.subject
                    AND (o.leased_until IS NULL OR o.leased_until <= $1)
                ORDER BY o.due_at LIMIT 1
            )
            """),
        Column<Int>(
            """
            (
                SELECT COUNT(*) FROM outbox o WHERE o.lease IS NOT NULL AND o.kind = 'provider_event'
                    AND o.subject = w.subject AND o.leased_until > $1
            )
            """),
        Column<Int?>("COALESCE(r.failures, e.failures)"),
        // A stream that holds its events is one whose receiver is left alone until the year 9999.
        Column<Date?>(
            "CASE WHEN e.holds = 1 THEN 253402300799000 ELSE COALESCE(r.resting_until, e.resting_until) END"))

    /// One entry for each receiver with waiting events. Each is found by one index step, however many events wait.
    private func queues() throws -> [ReceiverQueue] {
        try transaction.query(
            """
            WITH RECURSIVE waiting(subject) AS (
                SELECT MIN(o.subject) FROM outbox o WHERE \(Self.waiting)
                UNION ALL
                SELECT (SELECT MIN(o.subject) FROM outbox o WHERE \(Self.waiting) AND o.subject > w.subject)
                FROM waiting w WHERE w.subject IS NOT NULL
            )
            SELECT \(Self.queue)
            FROM waiting w LEFT JOIN provider_webhooks r ON r.provider_id = w.subject
                LEFT JOIN event_streams e ON e.id = w.subject
            WHERE w.subject IS NOT NULL
            """, [.time(transaction.now)]
        ).map { row in
            let (receiver, owner, due, underWay, failures, pausedUntil) = try Self.queue.read(row)
            return ReceiverQueue(
                receiver: receiver, owner: owner, due: due, underWay: underWay,
                breaker: ReceiverBreaker(failures: failures ?? 0, pausedUntil: pausedUntil))
        }
    }

    /// Stores the result of a try, if the lease is still valid; `false` if it expired and another process has the
    /// message.
    ///
    /// It deletes the payload of a sent or expired message.
    package func settle(_ message: OutboxMessage, lease: String) throws -> Bool {
        let isOver = message.state == .sent || message.state == .expired
        return try transaction.execute(
            """
            UPDATE outbox SET state = $3, due_at = $4, reason = $5, ended_at = $6, payload = $7, lease = NULL,
                leased_until = NULL
            WHERE id = $1 AND lease = $2
            """,
            [
                .id(message.id), .text(lease), message.state.value, .time(message.dueAt),
                .optional(message.reason), message.state == .waiting ? .null : .time(transaction.now),
                .bytes(isOver ? [] : message.payload),
            ]) > 0
    }

    /// When the next message of some kinds is due, or the next lease expires; `nil` if none waits.
    package func nextDue(_ kinds: [OutboxKind]) throws -> Date? {
        var moments: [Date?] = []
        for kind in kinds where kind.slots > 0 {
            if kind == .providerEvent {
                moments.append(ReceiverQueue.next(among: try queues(), after: transaction.now))
            } else {
                moments.append(
                    try transaction.value(
                        "SELECT MIN(due_at) FROM outbox WHERE \(Self.isWaiting("$1")) AND lease IS NULL",
                        [kind.value], as: Date?.self) ?? nil)
            }
            moments.append(
                try transaction.value(
                    "SELECT MIN(leased_until) FROM outbox WHERE lease IS NOT NULL AND kind = $1",
                    [kind.value], as: Date?.self) ?? nil)
        }
        return moments.compactMap(\.self).min()
    }

    private static let newest = NewestFirst(table: "outbox", key: "id", time: "created_at")

    /// The newest messages, of one state or of all.
    ///
    /// - Parameter cursor: the id of the last one on the page before; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` for a cursor that is gone.
    package func list(_ state: OutboxState?, limit: Int, after cursor: String? = nil) throws -> [OutboxMessage] {
        let page = Self.newest.page(from: 2)
        let ofState = state.map { "state = '\($0.rawValue)' AND " } ?? ""
        return try transaction.query(
            """
            SELECT \(Self.columns) FROM outbox
            WHERE \(ofState)kind IN (\(Self.kinds)) AND \(page.condition) \(page.order) LIMIT $1
            """,
            [Value(limit)] + Self.newest.place(behind: cursor, in: transaction)
        ).map(Self.columns.each.message)
    }

    /// The message with an id; `nil` if there is none.
    package func find(_ id: OutboxMessageID) throws -> OutboxMessage? {
        try transaction.first(
            "SELECT \(Self.columns) FROM outbox WHERE id = $1 AND kind IN (\(Self.kinds))", [.id(id)]
        ).map(Self.columns.each.message)
    }

    private static let some = ListStatement {
        "SELECT \(columns) FROM outbox WHERE id IN \($0.in) AND kind IN (\(kinds))"
    }

    /// Those of some messages that are there.
    package func find(_ ids: [OutboxMessageID]) throws -> [OutboxMessage] {
        try transaction.query(Self.some, list: ids.map(\.value)).map(Self.columns.each.message)
    }

    /// Resets a message's tries and makes it due; a process that has it leased can no longer settle it.
    package func restart(_ id: OutboxMessageID) throws {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'waiting', tries = 0, due_at = $2, ended_at = NULL, lease = NULL,
                leased_until = NULL
            WHERE id = $1
            """, [.id(id), .time(transaction.now)])
    }

    package func drop(_ id: OutboxMessageID) throws {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'dropped', ended_at = $2, payload = $3, lease = NULL, leased_until = NULL
            WHERE id = $1
            """, [.id(id), .time(transaction.now), .bytes([])])
    }

    /// Deletes a user's messages, sent or not.
    package func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM outbox WHERE user_id = $1", [.id(user)])
    }

    private static let over = AgedRows(of: "outbox", key: "id", age: "ended_at")

    /// Deletes the messages that ended before a time.
    @discardableResult
    package func purge(
        endedBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.over.take(before: moment, batch, in: transaction)
    }
}
