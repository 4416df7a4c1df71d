import Database
import Domain
import Foundation

/// Messages that are written in the transaction that caused them and sent after it (the outbox pattern).
///
/// A sender leases a message, tries, and settles it. If a lease is not settled, it expires and the message is tried
/// again. So each message is sent at least once, and twice only if a process died between sending and settling.
package struct OutboxRepository {
    private let transaction: any Transaction

    /// The lease and the end are written by the statements that lease and settle.
    static let columns = Table<OutboxMessage>(
        "outbox", OutboxMessage.init,
        Field("id", \.id),
        Field("kind", \.kind),
        Field("owner", \.owner),
        Field("subject", \.subject),
        Field("user_id", \.userID),
        Field("deduplication_key", \.deduplicationKey),
        Field(.outboxPayload, \.payload),
        Field("created_at", \.createdAt),
        Field("expires_at", \.expiresAt),
        Field("due_at", \.dueAt),
        Field("tries", \.tries),
        Field("state", \.state),
        Field("reason", \.reason))
    /// Kinds of a newer build are left to that build.
    static let kinds = names(of: OutboxKind.allCases)

    /// The existing messages among some ids.
    func find(_ ids: [OutboxMessageID]) throws -> [OutboxMessage] {
        try transaction.query(Self.some, list: ids.map(\.value)).map(Self.columns.read)
    }
}

package extension OutboxRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }
    private static func names(of kinds: [OutboxKind]) -> String {
        kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    private static let insertion = "\(columns.insertion) ON CONFLICT (deduplication_key) DO NOTHING"

    /// Inserts a message; `false` if the same one was inserted before.
    func insert(_ message: OutboxMessage) throws -> Bool {
        try transaction.execute(Self.insertion, Self.columns.row(message)) > 0
    }

    /// Enqueues a message that cannot be a duplicate.
    func enqueueInsert(_ message: OutboxMessage) throws {
        try transaction.enqueue(Self.insertion, Self.columns.row(message))
    }

    /// Stores the result of a try, if the lease is still valid; `false` if it expired and another process has the
    /// message.
    ///
    /// It deletes the payload of a sent or expired message. A push of messages that was not sent frees its key, so that
    /// the next message of the stream is pushed.
    func settle(_ message: OutboxMessage, lease: String) throws -> Bool {
        let isOver = message.state == .sent || message.state == .expired
        let isFree = message.kind == .message && message.state == .expired
        return try transaction.execute(
            """
            UPDATE outbox SET state = $3, due_at = $4, reason = $5, ended_at = $6, payload = $7, lease = NULL,
                leased_until = NULL, deduplication_key = $8
            WHERE id = $1 AND lease = $2
            """,
            [
                .id(message.id), .text(lease), message.state.value, .time(message.dueAt),
                .optional(message.reason), message.state == .waiting ? .null : .time(transaction.now),
                .bytes(isOver ? [] : message.payload),
                .text(isFree ? "\(message.id)" : message.deduplicationKey),
            ]) > 0
    }

    private static let newest = NewestFirst(table: "outbox", key: "id", time: "created_at")

    /// The number of newest rows that are searched for messages that were not sent.
    private static let sentAmong = 100_000

    /// The condition for a state, by an index of that state. Nearly all rows are sent messages, which have no such
    /// index: a page of them ends if too many other rows are between them.
    private static func condition(_ state: OutboxMessage.State) -> String {
        let isState = "state = '\(state.rawValue)'"
        switch state {
        case .dead: return isState
        case .waiting, .expired, .dropped: return "\(isState) AND state <> 'sent' AND state <> 'dead'"
        case .sent:
            return """
                \(isState) AND created_at >= COALESCE((
                    SELECT created_at FROM outbox WHERE (created_at, id) < ($2, $3)
                    ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET \(sentAmong)), 0)
                """
        }
    }

    /// The newest messages, of one state or of all.
    ///
    /// - Parameters:
    ///   - user: the user that they are about; `nil` for all users.
    ///   - cursor: the id of the last message of the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the cursor's row was deleted.
    func list(
        _ state: OutboxMessage.State?, of user: UserID? = nil, limit: Int, after cursor: String? = nil
    ) throws -> [OutboxMessage] {
        let page = Self.newest.page(from: 2)
        if let user {
            let ofState = state.map { "state = '\($0.rawValue)' AND " } ?? ""
            return try transaction.query(
                Self.columns,
                "WHERE user_id = $4 AND \(ofState)kind IN (\(Self.kinds)) AND \(page.condition) \(page.order) LIMIT $1",
                [Value(limit)] + Self.newest.place(behind: cursor, in: transaction) + [.id(user)])
        }
        let ofState = state.map { "\(Self.condition($0)) AND " } ?? ""
        return try transaction.query(
            Self.columns, "WHERE \(ofState)kind IN (\(Self.kinds)) AND \(page.condition) \(page.order) LIMIT $1",
            [Value(limit)] + Self.newest.place(behind: cursor, in: transaction))
    }

    /// The message with an id; `nil` if there is none.
    func find(_ id: OutboxMessageID) throws -> OutboxMessage? {
        try transaction.first(Self.columns, "WHERE id = $1 AND kind IN (\(Self.kinds))", [.id(id)])
    }

    /// The message with a deduplication key; `nil` if there is none.
    func find(key: String) throws -> OutboxMessage? {
        try transaction.first(
            Self.columns, "WHERE deduplication_key = $1 AND kind IN (\(Self.kinds))", [.text(key)])
    }

    private static let some = ListStatement {
        "SELECT \(columns) FROM outbox WHERE id IN \($0.in) AND kind IN (\(kinds))"
    }

    /// The condition for dead messages that can still be sent, of all users or of one.
    private static func retriable(_ user: UserID?) -> String {
        "state = 'dead' AND expires_at > $1 AND kind IN (\(kinds))" + (user == nil ? "" : " AND user_id = $2")
    }

    /// The number of dead messages that can still be sent. Counted up to one more than `BoundedCount/most`.
    func countRetriable(of user: UserID? = nil) throws -> Int {
        let arguments: [Value] = [.time(transaction.now)] + (user.map { [.id($0)] } ?? [])
        return try transaction.value(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM outbox WHERE \(Self.retriable(user)) LIMIT \(BoundedCount.most + 1)
            ) AS retriable
            """, arguments) ?? 0
    }

    /// A dead message that can still be sent, and its place among them.
    struct Retriable: Sendable {
        package let id: OutboxMessageID
        let createdAt: Date
    }

    /// Dead messages that can still be sent, newest first.
    ///
    /// - Parameter last: the last message of the previous page, which may have changed; `nil` for the first page.
    func listRetriable(of user: UserID? = nil, limit: Int, after last: Retriable? = nil) throws -> [Retriable] {
        let arguments: [Value] = [.time(transaction.now)] + (user.map { [.id($0)] } ?? [])
        let page = Self.newest.page(from: arguments.count + 1)
        let place = last.map { [.time($0.createdAt), .id($0.id)] } ?? NewestFirst.start
        return try transaction.query(
            """
            SELECT id, created_at FROM outbox WHERE \(Self.retriable(user)) AND \(page.condition)
            \(page.order) LIMIT \(max(0, limit))
            """, arguments + place
        ).map { Retriable(id: try OutboxMessageID.read($0, 0), createdAt: try Date.read($0, 1)) }
    }

    /// Resets a message's tries and makes it due. A process that has leased it can no longer settle it.
    func restart(_ id: OutboxMessageID) throws {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'waiting', tries = 0, due_at = $2, ended_at = NULL, lease = NULL,
                leased_until = NULL
            WHERE id = $1
            """, [.id(id), .time(transaction.now)])
    }

    func drop(_ id: OutboxMessageID) throws {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'dropped', ended_at = $2, payload = $3, lease = NULL, leased_until = NULL
            WHERE id = $1
            """, [.id(id), .time(transaction.now), .bytes([])])
    }

    /// Deletes some of a user's messages, sent or not. Returns their number.
    ///
    /// - Parameter time: the time of the erasure, if it was committed before. Providers' events from that time on stay:
    ///   they report the erasure.
    func erase(_ user: UserID, at time: Date?, limit: Int) throws -> Int {
        let events = [OutboxKind.providerEvent, .polledEvent]
        let isOld = time == nil ? "" : " AND (created_at < $2 OR kind NOT IN (\(Self.names(of: events))))"
        return try transaction.execute(
            """
            DELETE FROM outbox WHERE id IN (
                SELECT id FROM outbox WHERE user_id = $1\(isOld) ORDER BY created_at, id LIMIT \(limit))
            """, [.id(user)] + (time.map { [.time($0)] } ?? []))
    }

    private static let over = AgedRows(of: "outbox", key: "id", age: "ended_at")

    /// Deletes the messages that ended before a time.
    @discardableResult
    func purge(
        endedBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.over.take(before: moment, batch, in: transaction)
    }
}
