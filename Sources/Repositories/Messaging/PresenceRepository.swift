import Database
import Domain
import Foundation

/// The users who are online, by the node that their devices are connected to, and the last times when they were.
///
/// A user is online while one of these nodes is live, so the users of a node that dies go offline with its heartbeat.
/// A request writes nothing here: see `AnnouncePresence`.
package struct PresenceRepository {
    private let transaction: any Transaction
}

package extension PresenceRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    // MARK: Writing

    /// Removes duplicates, because a padded list repeats its last user.
    private static func listed(_ rows: String) -> String {
        "(SELECT DISTINCT v.column1 AS user_id FROM (VALUES \(rows)) AS v) AS listed"
    }

    /// No time is stored for a hidden user. A user without an open session may have been erased meanwhile.
    private static let seeing = ListStatement(after: 1) { list in
        """
        INSERT INTO presences (user_id, seen_at, is_hidden)
        SELECT listed.user_id, $1, 0 FROM \(listed(list.rows))
        WHERE EXISTS (
            SELECT 1 FROM sessions s
            WHERE s.user_id = listed.user_id AND s.state <> 'unauthenticated' AND \(GenerationRepository.isCurrent("s")))
        ORDER BY listed.user_id
        ON CONFLICT (user_id) DO UPDATE SET seen_at = excluded.seen_at
        WHERE presences.is_hidden = 0 AND COALESCE(presences.seen_at, 0) < excluded.seen_at
        """
    }
    private static let arriving = ListStatement(after: 1) { list in
        """
        INSERT INTO online_users (user_id, node_id)
        SELECT listed.user_id, $1 FROM \(listed(list.rows)) WHERE 1 = 1 ORDER BY listed.user_id
        ON CONFLICT (user_id, node_id) DO NOTHING
        """
    }
    private static let leaving = ListStatement(after: 1) {
        "DELETE FROM online_users WHERE node_id = $1 AND user_id IN \($0.in)"
    }
    /// It inserts no row, so that nothing is stored for a user who was erased meanwhile.
    private static let leftAt = ListStatement(after: 1) {
        """
        UPDATE presences SET seen_at = $1
        WHERE user_id IN \($0.in) AND is_hidden = 0 AND COALESCE(seen_at, 0) < $1
        """
    }

    /// Records that users are online on a node.
    func arrive(_ users: [UserID], on node: NodeID, at time: Date) throws {
        let list = Self.sorted(users)
        try transaction.enqueue(Self.seeing, [.time(time.wholeMinute)], list: list)
        try transaction.enqueue(Self.arriving, [.id(node)], list: list)
    }

    /// Records that users are no longer online on a node, since a time.
    func leave(_ users: [UserID], _ node: NodeID, at time: Date) throws {
        let list = Self.sorted(users)
        try transaction.enqueue(Self.leftAt, [.time(time.wholeMinute)], list: list)
        try transaction.enqueue(Self.leaving, [.id(node)], list: list)
    }

    /// Every writer locks the rows in the order of their ids.
    private static func sorted(_ users: [UserID]) -> [Value] { users.map(\.description).sorted().map(\.value) }

    private static let choice = ColumnTuple(Column<UserID>("user_id"), Column<Bool>("is_hidden"))

    /// Hides or shows a user's presence. The stored time of a hidden user is deleted.
    ///
    /// - Returns: `false` if the user had chosen the same before.
    @discardableResult
    func set(_ visibility: PresenceVisibility, of user: UserID) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO presences (\(Self.choice)) VALUES (\(Self.choice.placeholders))
            ON CONFLICT (user_id) DO UPDATE SET is_hidden = excluded.is_hidden,
                seen_at = CASE excluded.is_hidden WHEN 1 THEN NULL ELSE presences.seen_at END
            WHERE presences.is_hidden <> excluded.is_hidden
            """, Self.choice.row(user, visibility == .hidden)) > 0
    }

    /// Deletes everything about a user.
    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM online_users WHERE user_id = $1", [.id(user)])
        try transaction.execute("DELETE FROM presences WHERE user_id = $1", [.id(user)])
    }

    // MARK: Reading

    /// What is stored about a user.
    struct Entry: Sendable {
        package var visibility = PresenceVisibility.visible
        /// The last time when the user was online, as far as it is stored.
        package var seenAt: Date?
        /// The latest heartbeat of a node that has the user's devices.
        package var heartbeat: Date?

        package init() {}
    }

    private static let seen = ColumnTuple(
        Column<UserID>("user_id"), Column<Bool>("is_hidden"), Column<Date?>("seen_at"))
    private static let seenOfSome = ListStatement {
        "SELECT \(seen) FROM presences WHERE user_id IN \($0.in)"
    }
    private static let beat = ColumnTuple(Column<UserID>("o.user_id"), Column<Date>("n.seen_at"))
    /// SQLite keeps the order of a `CROSS JOIN`: it starts with the users.
    private static let beatsOfSome = ListStatement {
        "SELECT \(beat) FROM online_users o CROSS JOIN nodes n WHERE o.user_id IN \($0.in) AND n.id = o.node_id"
    }

    /// What is stored about some users. Users without anything are omitted.
    func find(_ users: [UserID]) throws -> [UserID: Entry] {
        let list = users.map(\.value)
        var found: [UserID: Entry] = [:]
        for row in try transaction.query(Self.seenOfSome, list: list) {
            let (user, isHidden, seenAt) = try Self.seen.read(row)
            found[user, default: Entry()].visibility = isHidden ? .hidden : .visible
            found[user, default: Entry()].seenAt = seenAt
        }
        for row in try transaction.query(Self.beatsOfSome, list: list) {
            let (user, heartbeat) = try Self.beat.read(row)
            found[user, default: Entry()].heartbeat = max(heartbeat, found[user]?.heartbeat ?? heartbeat)
        }
        return found
    }

    /// Whether a user has hidden the presence.
    func visibility(of user: UserID) throws -> PresenceVisibility {
        try find([user])[user]?.visibility ?? .visible
    }

    /// Every user who has hidden the presence, for a restore.
    func hidden() throws -> [UserID] {
        try transaction.values("SELECT user_id FROM presences WHERE is_hidden = 1")
    }

    // MARK: Maintenance

    /// How long the last time when a user was online is kept, in seconds.
    static let keptTimes: TimeInterval = 30 * 86_400

    private static let old = AgedRows(of: "presences", key: "user_id", age: "seen_at", and: "is_hidden = 0")

    /// Deletes the times before a time.
    @discardableResult
    func purge(
        seenBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }

    /// Deletes users of nodes that no longer exist, one node after the other in the order of their ids.
    func purgeNodes(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        let next: NodeID?? = try transaction.value(
            "SELECT MIN(node_id) FROM online_users WHERE node_id > $1", [.text(batch.after ?? "")], as: NodeID?.self)
        guard let node = next ?? nil else { return MaintenanceBatch.Outcome(rows: 0, isFinished: true) }
        let isKnown = try transaction.first("SELECT 1 FROM nodes WHERE id = $1", [.id(node)]) != nil
        let rows = isKnown ? 0 : try purge(node, limit: batch.limit)
        return MaintenanceBatch.Outcome(
            rows: rows, reached: rows < batch.limit ? node.description : batch.after, isFinished: false)
    }

    private func purge(_ node: NodeID, limit: Int) throws -> Int {
        try transaction.execute(
            """
            DELETE FROM online_users WHERE node_id = $1 AND user_id IN (
                SELECT user_id FROM online_users WHERE node_id = $1 ORDER BY user_id LIMIT \(limit))
            """, [.id(node)])
    }
}
