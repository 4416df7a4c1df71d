import Foundation

/// The change log on a server, where transactions commit in another order than that of their numbers.
///
/// A reader keeps which transactions were open when it read, and the youngest entry. It asks for what was written by
/// those, and for what stands behind that entry: nothing is missed and nothing given twice, nobody waits for a slow writer,
/// and a transaction that stays open delays its own changes alone. The end of its snapshot is no place to go on from: after
/// a crash the server gives numbers out again that left nothing behind.
///
/// It takes PostgreSQL's `xid8`, `pg_current_xact_id` and `pg_snapshot` (from PostgreSQL 13 on). Engines that speak its
/// protocol but lack them (CockroachDB, for one) cannot make the table; there each writer would need a stream of its own.
extension PostgreSQLDatabase {
    /// The end of the log.
    ///
    /// - Throws: `StoreError`.
    package func changePosition() async throws -> ChangePosition {
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

    /// What became visible after a position.
    ///
    /// - Throws: `StoreError`.
    package func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
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
        // A server that has counted fewer transactions than its log names was filled from a dump.
        guard let first = rows.first, let present = PostgreSQLSnapshot(try first.text(0)),
            try first.textOrNull(1) == position.incarnation, try first.integerOrNull(2) == position.last?.tag,
            present.next > last.transaction, try first.integer(4) <= position.lowestNeeded
        else { return try await interrupted() }
        let time = Date(timeIntervalSince1970: Double(try first.integer(3)) / 1000)
        return try Self.reading(rows, present, position, limit: limit, now: clock?() ?? time)
    }

    /// Commits a message of the log that is written ahead, on a connection that nothing else uses: it takes no table,
    /// and a synchronous standby has it when this returns. With it comes who committed: another server may be read
    /// meanwhile.
    ///
    /// - Throws: `StoreError`; `outcomeUnknown` where somebody ended the wait for the standby.
    package func heartbeat() async throws -> Heartbeat? {
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

    /// Empties the parts of the log that every one of these readers has read. A part that somebody uses is left for the
    /// next time. With the entries goes a note up to where they were, by which a reader that is not among these finds
    /// that it missed some: its own last entry may lie in a part that was left.
    ///
    /// A position that was read from another server, or before a restore, says nothing of this log: its numbers may be
    /// ahead of those here, and a note of one would have every reader forget until they are reached.
    ///
    /// - Throws: `StoreError`.
    package func purgeChanges(below positions: [ChangePosition]) async throws {
        let (slots, slot) = (Self.slots, Self.slot)
        let present = try await read { transaction in
            try transaction.first("SELECT \(slot), value || \(Self.timeline) FROM change_log_incarnation WHERE id = 1")
        }
        guard let present else { return }
        let (current, log) = (Int(try present.integer(0)), try present.text(1))
        guard let floor = positions.filter({ $0.incarnation == log }).map(\.lowestNeeded).min() else { return }
        // Those of the present and the last ten minutes are still written to.
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
        // By the index: everybody else waits while the table is locked.
        let isNeeded = "SELECT 1 FROM \(table) WHERE xid >= CAST($1 AS xid8) ORDER BY xid LIMIT 1"
        let needed: [Value] = [.text("\(floor)")]
        guard try transaction.first("SELECT 1 FROM \(table) LIMIT 1") != nil,
            try transaction.first(isNeeded, needed) == nil
        else { return }
        // Whoever wrote to it and has not committed yet holds a lock of it.
        try transaction.execute("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
        guard try transaction.first(isNeeded, needed) == nil else { return }
        try transaction.execute("TRUNCATE \(table)")
        // A reader waits for the lock before it takes its snapshot, so that it sees the note if it sees no entries.
        try transaction.execute(
            "UPDATE change_log_incarnation SET purged_below = $1 WHERE id = 1 AND purged_below < $1", [.integer(floor)])
    }

    /// Tables among which entries are spread by their time, ten minutes each, so that old ones go without a deletion of
    /// rows, and without a lock of the whole log.
    static let slots = 6

    /// The table that entries of transactions which begin now go to.
    static let slot = "CAST(CAST(extract(epoch FROM now()) AS BIGINT) / 600 % \(slots) AS SMALLINT)"

    /// Which run of which server answers: no two have started in the same microsecond.
    private static let server = "CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS BIGINT)"

    /// What another server has that takes over, and may lack the last commits of the one before.
    private static let timeline = "'.' || \(FollowedTimeline.question)"

    /// What is asked for on each poll: entries behind the youngest that was read, and earlier ones of transactions that were
    /// open. Each part is a walk of an index from its place on, also in a plan for any arguments; a limit among these
    /// would be taken for a tenth of the table.
    static func changesSince(limit: Int) -> String {
        func part(_ condition: String) -> String {
            """
            (SELECT xid, n, tag, kind, key FROM change_log WHERE \(condition)
                AND (CAST($4 AS TEXT) IS NULL OR pg_visible_in_snapshot(xid, CAST(CAST($4 AS TEXT) AS pg_snapshot)))
                ORDER BY xid, n LIMIT \(limit))
            """
        }
        // Filters here: as bounds they would begin walks elsewhere, which go on to an end of the log.
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
            // Not before: the position would pass transactions that were open when the first page was read.
            let youngest = position.last.map { ($0.transaction, $0.number) } ?? (0, -1)
            // What was open for long has a low number, and is not the youngest.
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

/// Which transactions a snapshot sees, as `pg_snapshot` is written (PostgreSQL, 9.27.8).
struct PostgreSQLSnapshot {
    let text: String
    /// Every transaction below is over.
    let lowest: Int64
    /// The first number that was not given out.
    let next: Int64
    /// Those between that are open, separated by commas.
    let open: String

    /// Reads `10:20:10,14,15`; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let lowest = Int64(parts[0]), let next = Int64(parts[1]),
            parts[2].utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2c })
        else { return nil }
        (self.text, self.lowest, self.next, open) = (text, lowest, next, String(parts[2]))
    }

    /// Whether a transaction that was committed before is seen.
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

extension ChangePosition {
    /// Every entry of a transaction below was read.
    fileprivate var lowestNeeded: Int64 {
        let last = last?.transaction ?? 0
        guard let base = PostgreSQLSnapshot(snapshot), !base.open.isEmpty else { return last }
        return min(last, base.lowest)
    }

    /// Whether what was read up to here is as young as a commit of the same process.
    package func shows(_ heartbeat: Heartbeat) -> Bool {
        guard page == nil, server == heartbeat.server, let present = PostgreSQLSnapshot(snapshot) else { return false }
        return present.shows(heartbeat.transaction)
    }
}
