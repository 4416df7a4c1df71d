import Database
import Foundation
import Identity

/// Messages that were written in the transaction that caused them and are sent after it (the outbox pattern).
///
/// A sender leases a message, tries, and settles it. A lease that its holder does not settle runs out, and the message
/// is tried again: at least once, and twice only where a process died between handing a message over and saying so.
public struct OutboxRecords {
    private let transaction: any Transaction

    /// The table, as it is bound into what is sealed in it.
    public static let table = "outbox"

    /// Works inside a transaction.
    public init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = """
        id, kind, subject, user_id, deduplication_key, payload, created_at, expires_at, due_at, tries, state, reason
        """
    /// Kinds that a newer build writes are left to it.
    private static let kinds = names(of: OutboxKind.allCases)
    /// Texts that a person waits for are not held up by a carrier that hangs over pushes.
    private static let turns = [
        names(of: OutboxKind.allCases.filter(\.isUrgent)), names(of: OutboxKind.allCases.filter { !$0.isUrgent }),
    ]
    private static let isFree = "state = 'waiting' AND due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)"

    private static func names(of kinds: [OutboxKind]) -> String {
        kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    /// Writes a message; `false` where the same one was written before.
    public func insert(_ message: OutboxMessage) throws -> Bool {
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

    /// Leases the messages that are due longest, urgent kinds first, and counts a try for each. The ones past their time
    /// end before that.
    public func lease(_ lease: String, limit: Int, for seconds: TimeInterval) throws -> [OutboxMessage] {
        let now = Value.time(transaction.now)
        try transaction.execute(
            """
            UPDATE outbox SET state = 'expired', ended_at = $1, reason = 'past its time', payload = $2
            WHERE \(Self.isFree) AND expires_at <= $1 AND kind IN (\(Self.kinds))
            """, [now, .bytes([])])
        var leased: [OutboxMessage] = []
        for kinds in Self.turns where leased.count < limit {
            leased += try transaction.query(
                """
                UPDATE outbox SET lease = $2, leased_until = $3, tries = tries + 1
                WHERE \(Self.isFree) AND id IN (
                    SELECT id FROM outbox WHERE \(Self.isFree) AND kind IN (\(kinds)) ORDER BY due_at, id LIMIT $4)
                RETURNING \(Self.columns)
                """,
                [now, .text(lease), .time(transaction.now.addingTimeInterval(seconds)), Value(limit - leased.count)]
            ).map(Self.message)
        }
        return leased
    }

    /// Writes what a try came to, if the lease still holds; `false` where it ran out and another has it.
    ///
    /// What was sent or is past its time needs its payload no more.
    public func settle(_ message: OutboxMessage, lease: String) throws -> Bool {
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

    /// When the next message is due, or the next lease runs out; `nil` where none waits.
    public func nextDue() throws -> Date? {
        try transaction.first(
            """
            SELECT MIN(CASE WHEN leased_until > due_at THEN leased_until ELSE due_at END) FROM outbox
            WHERE state = 'waiting' AND kind IN (\(Self.kinds))
            """)?.timeOrNull(0)
    }

    /// How many messages are in a state.
    public func count(_ state: OutboxState) throws -> Int {
        Int(
            try transaction.first("SELECT COUNT(*) FROM outbox WHERE state = $1", [.text(state.rawValue)])?
                .integer(0) ?? 0)
    }

    /// The newest messages, of one state or of all.
    public func list(_ state: OutboxState?, limit: Int) throws -> [OutboxMessage] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM outbox WHERE ($1 = '' OR state = $1) AND kind IN (\(Self.kinds))
            ORDER BY created_at DESC, id LIMIT $2
            """, [.text(state?.rawValue ?? ""), Value(limit)]
        ).map(Self.message)
    }

    /// The message with an id.
    public func find(_ id: OutboxMessageID) throws -> OutboxMessage? {
        try transaction.first(
            "SELECT \(Self.columns) FROM outbox WHERE id = $1 AND kind IN (\(Self.kinds))", [.id(id)]
        ).map(Self.message)
    }

    /// Gives a message all its tries anew, from now on; whoever has it leased settles it no more.
    public func restart(_ id: OutboxMessageID) throws {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'waiting', tries = 0, due_at = $2, ended_at = NULL, lease = NULL,
                leased_until = NULL
            WHERE id = $1
            """, [.id(id), .time(transaction.now)])
    }

    /// Takes a message out.
    public func drop(_ id: OutboxMessageID) throws {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'dropped', ended_at = $2, payload = $3, lease = NULL, leased_until = NULL
            WHERE id = $1
            """, [.id(id), .time(transaction.now), .bytes([])])
    }

    /// Forgets what was for a user, sent or not.
    public func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM outbox WHERE user_id = $1", [.id(user)])
    }

    /// Forgets what ended before a moment.
    public func purge(endedBefore moment: Date) throws {
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
