import Database
import Domain
import Foundation

/// Leases messages for senders, with turns for owners. Settled messages are never leased.
package struct OutboxClaims {
    let transaction: any Transaction
}

package extension OutboxClaims {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = OutboxRepository.columns
    private static let isFree = "state = 'waiting' AND lease IS NULL AND due_at <= $1"

    /// The condition for waiting messages of a kind, as in the kind's indexes: SQLite uses a partial index only if the
    /// statement repeats its condition.
    private static func isWaiting(_ kind: OutboxKind) -> String {
        let isOther = "kind <> 'provider_event' AND kind <> 'polled_event' AND kind <> 'notification'"
        return "state = 'waiting' AND kind = '\(kind.rawValue)'" + (kind == .providerEvent ? "" : " AND \(isOther)")
    }

    /// The condition for an index by due time.
    private static func isWaitingByDue(_ kind: OutboxKind) -> String {
        isWaiting(kind) + (kind == .providerEvent ? " AND due_at > 0" : "")
    }

    /// The column by which messages of a kind are queued: receivers of one owner do not wait for each other.
    private static func queue(_ kind: OutboxKind) -> String { kind == .providerEvent ? "subject" : "owner" }

    /// Leases due messages, up to the given number of each kind, and counts a try for each. Owners take turns, and an
    /// owner's messages are sent in the order in which they became due.
    ///
    /// Concurrent senders skip each other's rows. So the transaction must be one of `Database/maintain(_:)`, in which
    /// none is rolled back because of another.
    ///
    /// Even on all nodes together, one receiver or provider gets at most as many concurrent events as `ReceiverBreaker`
    /// and `OutboxKind/share` allow. A slow receiver thus uses only its own slots.
    ///
    /// - Parameters:
    ///   - turns: the sender's knowledge of each kind, valid after the commit.
    ///   - looking: the kinds to search for due messages. Kinds without known due messages are searched anyway.
    func lease(
        _ lease: String, _ slots: [OutboxKind: Int], for seconds: TimeInterval, looking: Set<OutboxKind>,
        _ turns: inout [OutboxKind: OutboxTurns]
    ) throws -> [OutboxMessage] {
        let kinds = OutboxKind.allCases.filter { kind in kind.share != .fetched && slots[kind, default: 0] > 0 }
        let looked = kinds.filter { looking.contains($0) || turns[$0]?.waiting.isEmpty ?? true }
        try look(looked, &turns)
        var leased: [OutboxMessage] = []
        for kind in kinds {
            var known = turns[kind] ?? OutboxTurns()
            let places = slots[kind, default: 0]
            let claim = Claim(kind: kind, lease: lease, end: transaction.now.addingTimeInterval(seconds))
            leased += try kind == .providerEvent ? events(claim, places, &known) : take(claim, places, &known)
            turns[kind] = known
        }
        return leased
    }

    /// Leases messages for a sender without previous knowledge.
    func lease(
        _ lease: String, _ slots: [OutboxKind: Int], for seconds: TimeInterval
    ) throws -> [OutboxMessage] {
        var turns: [OutboxKind: OutboxTurns] = [:]
        return try self.lease(lease, slots, for: seconds, looking: [], &turns)
    }

    /// When the next message of some kinds is due, or the next lease expires; `nil` if none waits.
    ///
    /// - Parameter turns: the sender's knowledge. Kinds that it does not include are searched.
    func nextDue(_ kinds: [OutboxKind], _ turns: [OutboxKind: OutboxTurns] = [:]) throws -> Date? {
        var moments: [Date?] = []
        for kind in kinds where kind.share != .fetched {
            let waiting = try turns[kind]?.waiting ?? queues(kind, from: nil)
            var later = try later(kind)
            if kind == .providerEvent {
                // Paused receivers already have due events, so later ones are irrelevant.
                for queue in waiting { later[queue.name] = nil }
                moments.append(ReceiverQueue.next(among: try receivers(waiting), after: transaction.now))
            } else {
                moments.append(waiting.map(\.since).min())
            }
            moments.append(later.values.min())
            moments.append(
                try transaction.value(
                    """
                    SELECT MIN(leased_until) FROM outbox
                    WHERE lease IS NOT NULL AND kind = '\(kind.rawValue)' AND leased_until > $1
                    """, [.time(transaction.now)], as: Date?.self) ?? nil)
        }
        return moments.compactMap(\.self).min()
    }

    // MARK: Due messages

    /// Searches some kinds for due messages, after ending expired messages and freeing expired leases of processes that
    /// died.
    private func look(_ kinds: [OutboxKind], _ turns: inout [OutboxKind: OutboxTurns]) throws {
        let now = transaction.now
        let starts = kinds.map { turns[$0]?.start(now: now) }
        guard !starts.isEmpty else { return }
        let start = starts.contains(nil) ? nil : starts.compactMap(\.self).min()
        try endPast(from: start)
        for (kind, start) in zip(kinds, starts) {
            try free(kind, from: start)
            turns[kind, default: OutboxTurns()].note(try queues(kind, from: start), at: now)
        }
    }

    private static func value(_ start: Date?) -> Value { start.map { .time($0) } ?? .integer(.min) }

    private func endPast(from start: Date?) throws {
        try transaction.execute(
            """
            WITH past(id) AS (
                SELECT id FROM outbox
                WHERE expires_at <= $1 AND expires_at >= $3 AND \(Self.isFree) AND kind IN (\(OutboxRepository.kinds))
                ORDER BY expires_at LIMIT 1000\(transaction.lockingFreeRows)
            )
            UPDATE outbox SET state = 'expired', ended_at = $1, reason = 'past its time', payload = $2
            WHERE id IN (SELECT id FROM past) AND \(Self.isFree)
            """, [.time(transaction.now), .bytes([]), Self.value(start)])
    }

    /// Frees expired leases. The freed messages are due now, so the search finds them.
    private func free(_ kind: OutboxKind, from start: Date?) throws {
        let isOver = "lease IS NOT NULL AND kind = '\(kind.rawValue)' AND leased_until <= $1"
        try transaction.execute(
            """
            WITH past(id) AS (
                SELECT id FROM outbox WHERE \(isOver) AND leased_until >= $2
                ORDER BY leased_until LIMIT 1000\(transaction.lockingFreeRows)
            )
            UPDATE outbox SET lease = NULL, leased_until = NULL, due_at = $1
            WHERE id IN (SELECT id FROM past) AND \(isOver) AND state = 'waiting'
            """, [.time(transaction.now), Self.value(start)])
    }

    private static let found = ColumnTuple(Column<String>("f.name"), Column<Date>("f.due"))

    /// The queues with messages that became due from a time on, or at any time. Without a time each queue is found by
    /// one index step, whatever its length.
    private func queues(_ kind: OutboxKind, from start: Date?) throws -> [OutboxTurns.Queue] {
        let (waiting, name) = (Self.isWaiting(kind), Self.queue(kind))
        let isRecent = "\(Self.isWaitingByDue(kind)) AND due_at >= $2 AND due_at <= $1 AND lease IS NULL"
        let now = Value.time(transaction.now)
        let rows =
            if let start {
                try transaction.query(
                    """
                    SELECT \(Self.found) FROM (
                        SELECT \(name) AS name, MIN(due_at) AS due FROM outbox WHERE \(isRecent) GROUP BY \(name)
                    ) AS f ORDER BY f.due, f.name
                    """, [now, .time(start)])
            } else {
                try transaction.query(
                    """
                    WITH RECURSIVE steps(name) AS (
                        SELECT MIN(o.\(name)) FROM outbox o WHERE \(waiting)
                        UNION ALL
                        SELECT (SELECT MIN(o.\(name)) FROM outbox o WHERE \(waiting) AND o.\(name) > s.name)
                        FROM steps s WHERE s.name IS NOT NULL
                    )
                    SELECT \(Self.found) FROM (
                        SELECT s.name AS name, (
                            SELECT o.due_at FROM outbox o WHERE \(waiting) AND o.\(name) = s.name AND o.lease IS NULL
                            ORDER BY o.due_at LIMIT 1
                        ) AS due FROM steps s WHERE s.name IS NOT NULL
                    ) AS f WHERE f.due <= $1 ORDER BY f.due, f.name
                    """, [now])
            }
        return try rows.map { row in
            let (name, due) = try Self.found.read(row)
            return OutboxTurns.Queue(name: name, since: due)
        }
    }

    private static let later = ColumnTuple(Column<String>("f.name"), Column<Date>("MIN(f.due)"))

    /// The first due time of each queue that has no due message now.
    private func later(_ kind: OutboxKind) throws -> [String: Date] {
        let rows = try transaction.query(
            """
            SELECT \(Self.later) FROM (
                SELECT \(Self.queue(kind)) AS name, due_at AS due FROM outbox
                WHERE \(Self.isWaitingByDue(kind)) AND due_at > $1 AND lease IS NULL ORDER BY due_at LIMIT 1000
            ) AS f GROUP BY f.name
            """, [.time(transaction.now)])
        return Dictionary(try rows.map(Self.later.read), uniquingKeysWith: min)
    }

    // MARK: Leasing

    private struct Claim {
        let kind: OutboxKind
        let lease: String
        let end: Date
    }

    private func take(_ claim: Claim, _ places: Int, _ turns: inout OutboxTurns) throws -> [OutboxMessage] {
        var leased: [OutboxMessage] = []
        // Each turn leases a message or ends a queue.
        while let turn = turns.next(places: places - leased.count) {
            let taken = try take(claim, of: turn.queue, turn.count)
            turns.took(taken.map(\.dueAt), of: turn)
            leased += taken
        }
        return leased
    }

    /// Leases messages of a queue. The limit is part of the text: for an unknown one a planner assumes a tenth of the
    /// table and scans it.
    private func take(_ claim: Claim, of queue: OutboxTurns.Queue, _ count: Int) throws -> [OutboxMessage] {
        try transaction.query(
            """
            WITH due(id) AS (
                SELECT id FROM outbox
                WHERE \(Self.isWaiting(claim.kind)) AND \(Self.queue(claim.kind)) = $4 AND due_at >= $5
                    AND \(Self.isFree) AND expires_at > $1
                ORDER BY due_at, id LIMIT \(count)\(transaction.lockingFreeRows)
            )
            UPDATE outbox SET lease = $2, leased_until = $3, tries = tries + 1
            WHERE id IN (SELECT id FROM due) AND \(Self.isFree)
            RETURNING \(Self.columns)
            """,
            [
                .time(transaction.now), .text(claim.lease), .time(claim.end), .text(queue.name), .time(queue.since),
            ]
        ).map(Self.columns.read)
    }

    private func events(_ claim: Claim, _ places: Int, _ turns: inout OutboxTurns) throws -> [OutboxMessage] {
        guard !turns.waiting.isEmpty else { return [] }
        // Only one sender at a time counts the events that are being sent to a receiver.
        _ = try transaction.query(
            "SELECT 1 FROM outbox_turns WHERE kind = 'provider_event'\(transaction.lockingRows)")
        var receivers = try receivers(turns.waiting)
        let due = receivers.compactMap { receiver in
            receiver.due.map { OutboxTurns.Queue(name: receiver.receiver, since: $0) }
        }.filter { $0.since <= transaction.now }
        turns.keep(due)
        let since = Dictionary(due.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var leased: [OutboxMessage] = []
        // A receiver may have fewer events than slots. Other receivers of its owner get the rest. Each turn leases an
        // event or ends a queue.
        for _ in 0..<2 * places {
            let starts = ReceiverQueue.starts(among: receivers, count: places - leased.count, now: transaction.now)
            guard let start = starts.first, let queue = since[start.receiver],
                let index = receivers.firstIndex(where: { $0.receiver == start.receiver })
            else { break }
            let taken = try take(claim, of: queue, start.count)
            receivers[index] = receivers[index].started(taken.count, isLast: taken.count < start.count)
            leased += taken
        }
        return leased
    }
}
