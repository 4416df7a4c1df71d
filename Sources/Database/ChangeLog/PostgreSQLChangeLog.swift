import Foundation

/// The change log on a server. Transactions commit in a different order than that of their numbers.
///
/// A reader keeps the transactions that were open when it read, and the latest entry. It reads entries of those
/// transactions, and entries after the latest. So no entry is missed or read twice, no reader waits for a slow writer,
/// and an open transaction delays only its own changes. The end of the snapshot would not be a valid position: after a
/// crash the server reuses numbers of transactions that left nothing.
///
/// It uses PostgreSQL's `xid8`, `pg_current_xact_id` and `pg_snapshot` (PostgreSQL 13 and later). Compatible engines
/// without them (such as CockroachDB) cannot create the table. They would need a stream for each writer.
package extension PostgreSQLDatabase {
    func changePosition() async throws -> ChangePosition {
        let row = try await ask(
            """
            SELECT CAST(pg_current_snapshot() AS TEXT), i.value || \(Self.timeline), CAST(CAST(l.xid AS TEXT) AS BIGINT), l.n,
                l.tag, \(Self.server)
            FROM change_log_incarnation i LEFT JOIN (
                SELECT xid, n, tag FROM change_log ORDER BY xid DESC, n DESC LIMIT 1
            ) l ON TRUE WHERE i.id = 1
            """, []
        ).first
        guard let row else { throw StoreError.statement(reason: "the change log names no incarnation") }
        followed.follow(try row.text(1))
        let last = try row.integerOrNull(2).map { transaction in
            ChangePosition.Mark(transaction: transaction, number: try row.integer(3), tag: try row.integer(4))
        }
        return ChangePosition(
            incarnation: try row.text(1), snapshot: try row.text(0), last: last, server: try row.integer(5))
    }

    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        guard let base = PostgreSQLSnapshot(position.snapshot) else { return try await interrupted() }
        let last = (transaction: position.last?.transaction ?? 0, number: position.last?.number ?? -1)
        let rows = try await ask(
            Self.changesSince(limit: limit),
            [
                .text("\(last.transaction)"), .integer(last.number), .text("{\(base.open)}"),
                Value(position.page?.snapshot), .text("\(position.page?.mark.transaction ?? 0)"),
                .integer(position.page?.mark.number ?? -1),
            ])
        followed.follow(try rows.first?.textOrNull(1))
        // If the server has counted fewer transactions than its log names, the log came from a dump.
        guard let first = rows.first, let present = PostgreSQLSnapshot(try first.text(0)),
            try first.textOrNull(1) == position.incarnation, try first.integerOrNull(2) == position.last?.tag,
            present.next > last.transaction, try first.integer(4) <= position.lowestNeeded
        else { return try await interrupted() }
        let time = Date(timeIntervalSince1970: Double(try first.integer(3)) / 1000)
        return try Self.reading(rows, present, position, limit: limit, now: clock?() ?? time)
    }

    /// Commits a message of the write-ahead log, on a connection that is used only for this. It uses no table, and a
    /// synchronous standby has it when this returns. It includes the server's identity, because reads may go to another
    /// server.
    ///
    /// - Throws: `StoreError`; `outcomeUnknown` if the wait for the standby was cancelled.
    func heartbeat() async throws -> Heartbeat? {
        let sql = """
            SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT), \(Self.server),
                CAST(pg_logical_emit_message(true, 'countersign', '') AS TEXT)
            """
        let heartbeat = try await beat { transaction in
            try transaction.first(sql).map { Heartbeat(transaction: try $0.integer(0), server: try $0.integer(1)) }
        }
        guard let heartbeat else { throw StoreError.statement(reason: "the server gave a transaction no number") }
        return heartbeat
    }

    /// Truncates the tables of the log that all readers have consumed. A table in use is left for the next time. The
    /// limit of the purged entries is recorded, so that a reader that is not in the list can detect that it missed
    /// entries: its own last entry may be in a table that was left.
    ///
    /// A position from another server, or from before a restore, is ignored. Its numbers may be ahead of the numbers
    /// here, and such a limit would make every reader drop its caches until they are reached.
    ///
    /// - Throws: `StoreError`.
    func purgeChanges(below positions: [ChangePosition]) async throws {
        let (slots, slot) = (Self.slots, Self.slot)
        let present = try await read { transaction in
            try transaction.first("SELECT \(slot), value || \(Self.timeline) FROM change_log_incarnation WHERE id = 1")
        }
        guard let present else { return }
        let (current, log) = (Int(try present.integer(0)), try present.text(1))
        guard let floor = positions.filter({ $0.incarnation == log }).map(\.lowestNeeded).min() else { return }
        // Tables of the present and the last ten minutes are still written to.
        for offset in 1..<(slots - 1) {
            let table = "change_log_\((current + offset) % slots)"
            do {
                try await maintainAtOnce { try Self.empty(table, below: floor, in: $0) }
            } catch StoreError.unavailable {
                continue
            }
        }
    }

    private static func empty(_ table: String, below floor: Int64, in transaction: any Transaction) throws {
        // By the index, because all other transactions wait while the table is locked.
        let isNeeded = "SELECT 1 FROM \(table) WHERE xid >= CAST($1 AS xid8) ORDER BY xid LIMIT 1"
        let needed: [Value] = [.text("\(floor)")]
        guard try transaction.first("SELECT 1 FROM \(table) LIMIT 1") != nil,
            try transaction.first(isNeeded, needed) == nil
        else { return }
        // A transaction that wrote to it and has not committed has a lock.
        try transaction.execute("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
        guard try transaction.first(isNeeded, needed) == nil else { return }
        try transaction.execute("TRUNCATE \(table)")
        // A reader waits for the lock before it takes its snapshot. If it sees no entries, it therefore sees the limit.
        try transaction.execute(
            "UPDATE change_log_incarnation SET purged_below = $1 WHERE id = 1 AND purged_below < $1", [.integer(floor)])
    }
}

extension PostgreSQLDatabase {
    /// The number of tables to which entries are distributed by time, ten minutes each. Old entries are removed by
    /// truncating a table, which neither deletes rows nor locks the whole log.
    static let slots = 6

    /// The table for entries of transactions that begin now.
    static let slot = "CAST(CAST(extract(epoch FROM now()) AS BIGINT) / 600 % \(slots) AS SMALLINT)"

    /// The identity of the server's run: no two have started in the same microsecond.
    private static let server = "CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS BIGINT)"

    /// The timeline. A promoted standby has a different one, and may lack the last commits of the previous primary.
    private static let timeline = "'.' || \(FollowedTimeline.question)"

    /// The query of each poll: entries after the latest that was read, and earlier ones of transactions that were open.
    /// Each part is an index scan from its position, also in a generic plan. If the limit were an argument, the planner
    /// would expect a tenth of the table.
    static func changesSince(limit: Int) -> String {
        func part(_ condition: String) -> String {
            """
            (SELECT xid, n, tag, kind, key FROM change_log WHERE \(condition)
                AND (CAST($4 AS TEXT) IS NULL OR pg_visible_in_snapshot(xid, CAST(CAST($4 AS TEXT) AS pg_snapshot)))
                ORDER BY xid, n LIMIT \(limit))
            """
        }
        // Filters. As bounds they would start the scan at another entry and read to an end of the log.
        let open = """
            xid = ANY (CAST($3 AS xid8[])) AND NOT (xid, n) > (CAST($1 AS xid8), $2)
            AND NOT (xid, n) <= (CAST($5 AS xid8), $6)
            """
        return """
            SELECT CAST(pg_current_snapshot() AS TEXT),
                (SELECT value || \(timeline) FROM change_log_incarnation WHERE id = 1),
                (SELECT tag FROM change_log WHERE xid = CAST($1 AS xid8) AND n = $2),
                CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT),
                (SELECT purged_below FROM change_log_incarnation WHERE id = 1),
                CAST(CAST(c.xid AS TEXT) AS BIGINT), c.n, c.tag, c.kind, c.key, \(server)
            FROM (SELECT 1) o LEFT JOIN (
                SELECT * FROM (
                    \(part("(xid, n) > (CAST($1 AS xid8), $2) AND (xid, n) > (CAST($5 AS xid8), $6)"))
                    UNION ALL
                    \(part(open))
                ) p ORDER BY xid, n LIMIT \(limit)
            ) c ON TRUE ORDER BY c.xid, c.n
            """
    }

    private static func reading(
        _ rows: [Row], _ present: PostgreSQLSnapshot, _ position: ChangePosition, limit: Int, now time: Date
    ) throws -> ChangeReading {
        var (changes, next) = ([LoggedChange](), position)
        for row in rows {
            guard let transaction = try row.integerOrNull(5) else { break }
            let mark = ChangePosition.Mark(
                transaction: transaction, number: try row.integer(6), tag: try row.integer(7))
            changes.append(LoggedChange(kind: Int(try row.integer(8)), key: try row.bytes(9)))
            next.page = .init(snapshot: position.page?.snapshot ?? present.text, mark: mark)
        }
        next.server = try rows.first?.integer(10)
        let hasMore = changes.count >= limit
        if !hasMore {
            // Not earlier: the position would skip transactions that were open when the first page was read.
            let youngest = position.last.map { ($0.transaction, $0.number) } ?? (0, -1)
            // An entry of a long transaction has a low number, and is not the latest.
            if let mark = next.page?.mark, (mark.transaction, mark.number) > youngest { next.last = mark }
            next.snapshot = position.page?.snapshot ?? present.text
            next.page = nil
        }
        var age = 0.0
        let now = try rows.first?.integer(3) ?? 0
        if present.open.isEmpty {
            next.horizonSince = nil
        } else if let base = PostgreSQLSnapshot(position.snapshot), base.lowest == present.lowest,
            let since = position.horizonSince
        {
            age = Double(max(0, now - since)) / 1000
        } else {
            next.horizonSince = now
        }
        return ChangeReading(
            changes: changes, position: next, isInterrupted: false, hasMore: hasMore, horizonAge: age, now: time)
    }

    private func interrupted() async throws -> ChangeReading {
        ChangeReading(
            changes: [], position: try await changePosition(), isInterrupted: true, hasMore: false, horizonAge: 0,
            now: nil)
    }
}

/// The transactions that a snapshot sees, in the form of `pg_snapshot` (PostgreSQL, 9.27.8).
struct PostgreSQLSnapshot {
    let text: String
    /// All transactions below have ended.
    let lowest: Int64
    /// The first number that is not in use yet.
    let next: Int64
    /// The open transactions between them, separated by commas.
    let open: String

    /// Parses `10:20:10,14,15`; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let lowest = Int64(parts[0]), let next = Int64(parts[1]),
            parts[2].utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2c })
        else { return nil }
        (self.text, self.lowest, self.next, open) = (text, lowest, next, String(parts[2]))
    }

    /// Whether the snapshot sees a committed transaction.
    func shows(_ transaction: Int64) -> Bool {
        transaction < next && !open.split(separator: ",").contains { Int64($0) == transaction }
    }
}

extension PostgreSQLTransaction {
    func emptyChangeLog() throws { try execute("TRUNCATE change_log") }

    func createChangeLog() throws {
        try execute(
            """
            CREATE TABLE change_log (
                xid xid8 NOT NULL DEFAULT pg_current_xact_id(), n BIGINT NOT NULL, tag BIGINT NOT NULL,
                kind SMALLINT NOT NULL, key BYTEA NOT NULL,
                at BIGINT NOT NULL DEFAULT CAST(extract(epoch FROM now()) AS BIGINT),
                slot SMALLINT NOT NULL DEFAULT \(PostgreSQLDatabase.slot), PRIMARY KEY (xid, n, slot)
            ) PARTITION BY LIST (slot)
            """)
        for slot in 0..<PostgreSQLDatabase.slots {
            try execute("CREATE TABLE change_log_\(slot) PARTITION OF change_log FOR VALUES IN (\(slot))")
        }
        try createIncarnation()
    }
}

package extension ChangePosition {
    /// All entries of transactions below it were read.
    fileprivate var lowestNeeded: Int64 {
        let last = last?.transaction ?? 0
        guard let base = PostgreSQLSnapshot(snapshot), !base.open.isEmpty else { return last }
        return min(last, base.lowest)
    }

    /// Whether the reading is as recent as a commit of this process.
    func shows(_ heartbeat: Heartbeat) -> Bool {
        guard page == nil, server == heartbeat.server, let present = PostgreSQLSnapshot(snapshot) else { return false }
        return present.shows(heartbeat.transaction)
    }
}
