import Database
import Domain
import Foundation

/// Messages that were written in the transaction that caused them and are sent after it (the outbox pattern).
///
/// A sender leases a message, tries, and settles it. A lease that its holder does not settle runs out, and the message
/// is tried again: at least once, and twice only where a process died between handing a message over and saying so.
package struct OutboxRepository {
    private let transaction: any Transaction

    /// The table, as it is bound into what is sealed in it.
    package static let table = "outbox"

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = """
        id, kind, subject, user_id, deduplication_key, payload, created_at, expires_at, due_at, tries, state, reason
        """
    /// Kinds that a newer build writes are left to it.
    private static let kinds = names(of: OutboxKind.allCases)
    private static let isFree = "state = 'waiting' AND due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)"

    private static func names(of kinds: [OutboxKind]) -> String {
        kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    /// Writes a message; `false` where the same one was written before.
    package func insert(_ message: OutboxMessage) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO outbox (\(Self.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            ON CONFLICT (deduplication_key) DO NOTHING
            """,
            [
                .id(message.id), .text(message.kind.rawValue), .text(message.subject), .id(message.userID),
                .text(message.deduplicationKey), .bytes(message.payload), .time(message.createdAt),
                .time(message.expiresAt), .time(message.dueAt), Value(message.tries), .text(message.state.rawValue),
                .optional(message.reason),
            ]) > 0
    }

    /// Leases the messages that are due longest, of each kind as many as asked, and counts a try for each. The ones past
    /// their time end before that.
    ///
    /// Of the events for one provider no more are under way at once than `ReceiverBreaker` allows, on all nodes together:
    /// a receiver that hangs takes its own places alone.
    package func lease(
        _ lease: String, _ slots: [OutboxKind: Int], for seconds: TimeInterval
    ) throws -> [OutboxMessage] {
        let now = Value.time(transaction.now)
        try transaction.execute(
            """
            UPDATE outbox SET state = 'expired', ended_at = $1, reason = 'past its time', payload = $2
            WHERE id IN (
                SELECT id FROM outbox WHERE expires_at <= $1 AND \(Self.isFree) AND kind IN (\(Self.kinds))
                ORDER BY expires_at LIMIT 1000)
            """, [now, .bytes([])])
        var leased: [OutboxMessage] = []
        for kind in OutboxKind.allCases {
            guard let count = slots[kind], count > 0 else { continue }
            guard kind == .providerEvent else {
                leased += try take(lease, "kind = '\(kind.rawValue)'", [], count, for: seconds)
                continue
            }
            for (provider, share) in try shares(of: count) {
                leased += try take(
                    lease, "kind = 'provider_event' AND subject = $5", [.text(provider)], share, for: seconds)
            }
        }
        return leased
    }

    private func take(
        _ lease: String, _ which: String, _ more: [Value], _ count: Int, for seconds: TimeInterval
    ) throws -> [OutboxMessage] {
        try transaction.query(
            """
            UPDATE outbox SET lease = $2, leased_until = $3, tries = tries + 1
            WHERE \(Self.isFree) AND id IN (
                SELECT id FROM outbox WHERE \(which) AND \(Self.isFree) AND expires_at > $1
                ORDER BY due_at, id LIMIT $4)
            RETURNING \(Self.columns)
            """,
            [
                .time(transaction.now), .text(lease), .time(transaction.now.addingTimeInterval(seconds)), Value(count),
            ] + more
        ).map(Self.message)
    }

    /// The providers whose events are due, longest first, and how many of each may begin.
    private func shares(of count: Int) throws -> [(provider: String, count: Int)] {
        var shares: [(provider: String, count: Int)] = []
        var rest = count
        let now = transaction.now
        let queues = try queues()
        // Receivers that do not answer have a part of the places between them all, however many there are.
        var failing = ReceiverBreaker.inFlightToFailing
        for queue in queues where queue.breaker.failures > 0 { failing -= queue.underWay }
        let due = queues.filter { ($0.due ?? .distantFuture) <= now }.sorted { $0.order < $1.order }
        for queue in due where rest > 0 {
            let isFailing = queue.breaker.failures > 0
            let room = min(rest, isFailing ? failing : rest, queue.breaker.room(besides: queue.underWay, now: now))
            guard room > 0 else { continue }
            shares.append((queue.provider, room))
            rest -= room
            if isFailing { failing -= room }
        }
        return shares
    }

    /// The events that wait for one provider.
    private struct Queue {
        let provider: String
        /// When the first that nobody has under way is due; `nil` where all are.
        let due: Date?
        let underWay: Int
        let breaker: ReceiverBreaker

        var order: (Date, String) { (due ?? .distantFuture, provider) }

        /// When one of them may begin; `nil` where that is for the end of one that is under way to say.
        func next(after now: Date) -> Date? {
            let start = max(now, breaker.restingUntil ?? .distantPast)
            guard let due, breaker.room(besides: underWay, now: start) > 0 else { return nil }
            return max(due, breaker.restingUntil ?? .distantPast)
        }
    }

    /// One entry for each provider that events wait for. Each is found by a step in an index, however many wait.
    private func queues() throws -> [Queue] {
        let waiting = "o.state = 'waiting' AND o.kind = 'provider_event'"
        return try transaction.query(
            """
            WITH RECURSIVE waiting(subject) AS (
                SELECT MIN(o.subject) FROM outbox o WHERE \(waiting)
                UNION ALL
                SELECT (SELECT MIN(o.subject) FROM outbox o WHERE \(waiting) AND o.subject > w.subject)
                FROM waiting w WHERE w.subject IS NOT NULL
            )
            SELECT w.subject,
                (
                    SELECT o.due_at FROM outbox o WHERE \(waiting) AND o.subject = w.subject
                        AND (o.leased_until IS NULL OR o.leased_until <= $1)
                    ORDER BY o.due_at LIMIT 1
                ),
                (
                    SELECT COUNT(*) FROM outbox o WHERE o.lease IS NOT NULL AND o.kind = 'provider_event'
                        AND o.subject = w.subject AND o.leased_until > $1
                ),
                r.failures, r.resting_until
            FROM waiting w LEFT JOIN provider_webhooks r ON r.provider_id = w.subject
            WHERE w.subject IS NOT NULL
            """, [.time(transaction.now)]
        ).map { row in
            Queue(
                provider: try row.text(0), due: try row.timeOrNull(1), underWay: Int(try row.integer(2)),
                breaker: ReceiverBreaker(
                    failures: Int(try row.integerOrNull(3) ?? 0), restingUntil: try row.timeOrNull(4)))
        }
    }

    /// Writes what a try came to, if the lease still holds; `false` where it ran out and another has it.
    ///
    /// What was sent or is past its time needs its payload no more.
    package func settle(_ message: OutboxMessage, lease: String) throws -> Bool {
        let isOver = message.state == .sent || message.state == .expired
        return try transaction.execute(
            """
            UPDATE outbox SET state = $3, due_at = $4, reason = $5, ended_at = $6, payload = $7, lease = NULL,
                leased_until = NULL
            WHERE id = $1 AND lease = $2
            """,
            [
                .id(message.id), .text(lease), .text(message.state.rawValue), .time(message.dueAt),
                .optional(message.reason), message.state == .waiting ? .null : .time(transaction.now),
                .bytes(isOver ? [] : message.payload),
            ]) > 0
    }

    /// When the next message of some kinds is due, or the next lease runs out; `nil` where none waits.
    package func nextDue(_ kinds: [OutboxKind]) throws -> Date? {
        var moments: [Date?] = []
        for kind in kinds {
            if kind == .providerEvent {
                moments += try queues().map { $0.next(after: transaction.now) }
            } else {
                moments.append(
                    try transaction.first(
                        "SELECT MIN(due_at) FROM outbox WHERE state = 'waiting' AND kind = $1 AND lease IS NULL",
                        [.text(kind.rawValue)])?.timeOrNull(0))
            }
            moments.append(
                try transaction.first(
                    "SELECT MIN(leased_until) FROM outbox WHERE lease IS NOT NULL AND kind = $1",
                    [.text(kind.rawValue)])?.timeOrNull(0))
        }
        return moments.compactMap(\.self).min()
    }

    /// How many messages are in a state.
    package func count(_ state: OutboxState) throws -> Int {
        Int(
            try transaction.first("SELECT COUNT(*) FROM outbox WHERE state = $1", [.text(state.rawValue)])?
                .integer(0) ?? 0)
    }

    /// The newest messages, of one state or of all.
    package func list(_ state: OutboxState?, limit: Int) throws -> [OutboxMessage] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM outbox WHERE ($1 = '' OR state = $1) AND kind IN (\(Self.kinds))
            ORDER BY created_at DESC, id LIMIT $2
            """, [.text(state?.rawValue ?? ""), Value(limit)]
        ).map(Self.message)
    }

    /// The message with an id.
    package func find(_ id: OutboxMessageID) throws -> OutboxMessage? {
        try transaction.first(
            "SELECT \(Self.columns) FROM outbox WHERE id = $1 AND kind IN (\(Self.kinds))", [.id(id)]
        ).map(Self.message)
    }

    /// Gives a message all its tries anew, from now on; whoever has it leased settles it no more.
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

    /// Forgets what was for a user, sent or not.
    package func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM outbox WHERE user_id = $1", [.id(user)])
    }

    /// Forgets what ended before a moment.
    package func purge(endedBefore moment: Date) throws {
        try transaction.execute("DELETE FROM outbox WHERE ended_at < $1", [.time(moment)])
    }

    private static func message(_ row: Row) throws -> OutboxMessage {
        OutboxMessage(
            id: try row.id(0), kind: try row.word(1), subject: try row.text(2), userID: try row.id(3),
            deduplicationKey: try row.text(4), payload: try row.bytes(5), createdAt: try row.time(6),
            expiresAt: try row.time(7), dueAt: try row.time(8), tries: Int(try row.integer(9)),
            state: try row.word(10), reason: try row.textOrNull(11))
    }
}
