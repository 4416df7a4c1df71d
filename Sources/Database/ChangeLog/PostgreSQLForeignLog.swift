/// A change log that came here as a dump of another server's, which had counted further.
///
/// Its entries and its floor are numbers of transactions. Where this server has not reached them, a reader would take
/// what is written from now on for older than what it has read, for ever.
extension PostgreSQLDatabase {
    /// One row: 1 where the log names a transaction that this server has yet to begin. Nobody sees one of its own.
    private static let isForeign = """
        SELECT CAST(COALESCE(
            i.purged_below >= CAST(CAST(s.next AS TEXT) AS BIGINT)
            OR (SELECT xid FROM change_log ORDER BY xid DESC, n DESC LIMIT 1) >= s.next, FALSE) AS INTEGER)
        FROM change_log_incarnation i CROSS JOIN (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next) s
        WHERE i.id = 1
        """

    /// Whether another server wrote the log.
    ///
    /// - Throws: `StoreError`.
    package func hasForeignChangeLog() async throws -> Bool {
        try await ask(Self.isForeign, []).first?.integer(0) == 1
    }

    /// Begins the log anew where another server wrote it. Of two nodes that do this at once the server takes one back,
    /// which then finds the log in order.
    ///
    /// - Throws: `StoreError`.
    @discardableResult
    package func adoptChangeLog() async throws -> Bool {
        // Without a lock first: it is asked at every start.
        guard try await hasForeignChangeLog() else { return false }
        return try await alter { transaction in
            // One at a time: whoever empties the log has read it before, and two would wait for each other.
            try transaction.execute("LOCK TABLE change_log_incarnation IN EXCLUSIVE MODE")
            guard try transaction.first(Self.isForeign)?.integer(0) == 1 else { return false }
            try transaction.renewChangeLog()
            return true
        }
    }
}
