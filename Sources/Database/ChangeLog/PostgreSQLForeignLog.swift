/// A change log from a dump of another server, which had counted more transactions.
///
/// Its entries and its purge limit are numbers of transactions. Until this server reaches them, a reader would treat
/// new entries as older than those it has read.
package extension PostgreSQLDatabase {
    /// One row: 1 if the log names a transaction that this server has not started. A transaction does not see its own
    /// entries.
    private static let isForeign = """
        SELECT CAST(COALESCE(
            i.purged_below >= CAST(CAST(s.next AS TEXT) AS BIGINT)
            OR (SELECT xid FROM change_log ORDER BY xid DESC, n DESC LIMIT 1) >= s.next, FALSE) AS INTEGER)
        FROM change_log_incarnation i CROSS JOIN (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next) s
        WHERE i.id = 1
        """

    func hasForeignChangeLog() async throws -> Bool {
        try await ask(Self.isForeign, []).first?.integer(0) == 1
    }

    /// Starts a new log if another server wrote the current one. If two nodes do so at once, the server rolls one of
    /// the transactions back, which then finds the log valid.
    ///
    /// - Throws: `StoreError`.
    @discardableResult
    func adoptChangeLog() async throws -> Bool {
        // First without a lock, because every start checks this.
        guard try await hasForeignChangeLog() else { return false }
        return try await alter { transaction in
            // One node at a time. Each reads the log before it empties it, so two would wait for each other.
            try transaction.execute("LOCK TABLE change_log_incarnation IN EXCLUSIVE MODE")
            guard try transaction.first(Self.isForeign)?.integer(0) == 1 else { return false }
            try transaction.renewChangeLog()
            return true
        }
    }
}
