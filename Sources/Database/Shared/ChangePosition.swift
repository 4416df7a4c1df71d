import Foundation

/// One entry of the change log: the key of a value that a process may have cached.
package struct LoggedChange: Sendable, Equatable {
    /// The kind of the value, a number that the program defines.
    package let kind: Int
    package let key: [UInt8]
}

/// The position of a reader in the change log. Its contents depend on the engine.
package struct ChangePosition: Sendable, Hashable {
    /// An entry that was read. If it has disappeared, the log was reset to an earlier state.
    struct Mark: Sendable, Hashable {
        /// The transaction that wrote it; 0 if one writer numbers all entries.
        var transaction: Int64
        var number: Int64
        var tag: Int64
    }

    /// The position within one snapshot.
    struct Page: Sendable, Hashable {
        var snapshot: String
        /// The last entry of the previous page.
        var mark: Mark
    }

    /// The incarnation of the log.
    var incarnation: String
    /// The snapshot of the reading; empty if entries have one order.
    var snapshot: String
    /// The latest entry that was read in the last complete reading.
    var last: Mark?
    var page: Page?
    /// The time since which the oldest open transaction has been the same one, in milliseconds of the server's clock.
    var horizonSince: Int64?
    /// The start time of the server that was read, in microseconds, which identifies its run; `nil` for a file.
    var server: Int64?

    init(incarnation: String, snapshot: String = "", last: Mark? = nil, server: Int64? = nil) {
        (self.incarnation, self.snapshot, self.last, self.server) = (incarnation, snapshot, last, server)
    }
}

package extension ChangePosition {
    /// The position as text, for a table. A reader that continues from it may get the entries of the last call again.
    var text: String {
        let mark = last.map { "\($0.transaction)/\($0.number)/\($0.tag)" } ?? ""
        return "\(incarnation)/\(snapshot)/\(mark)"
    }

    /// Parses ``text``; `nil` for anything else.
    init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 || parts.count == 5 else { return nil }
        self.init(incarnation: parts[0], snapshot: parts[1])
        guard parts.count == 5 else {
            guard parts[2].isEmpty else { return nil }
            return
        }
        guard let transaction = Int64(parts[2]), let number = Int64(parts[3]), let tag = Int64(parts[4]) else {
            return nil
        }
        last = Mark(transaction: transaction, number: number, tag: tag)
    }
}

/// The changes after a position.
package struct ChangeReading: Sendable {
    /// Each change after the position, once. Changes of one transaction, and of consecutive transactions, keep their
    /// order.
    package let changes: [LoggedChange]
    /// The position to continue from.
    package let position: ChangePosition
    /// Whether the log was replaced or reset to an earlier state. The changes are then unknown, and every cache must be
    /// dropped.
    package let isInterrupted: Bool
    /// Whether more changes can be read at once.
    package let hasMore: Bool
    /// The minimum age in seconds of the server's oldest open transaction, whose changes are not in the log yet.
    package let horizonAge: Double
    /// The store's clock at the reading; `nil` if the log was interrupted.
    package let now: Date?

    init(
        changes: [LoggedChange], position: ChangePosition, isInterrupted: Bool, hasMore: Bool, horizonAge: Double,
        now: Date?
    ) {
        (self.changes, self.position, self.isInterrupted) = (changes, position, isInterrupted)
        (self.hasMore, self.horizonAge, self.now) = (hasMore, horizonAge, now)
    }
}

/// A commit by which a process proves that it reaches the writable server.
package struct Heartbeat: Sendable, Hashable {
    let transaction: Int64
    /// The server's run, as in ``ChangePosition``.
    let server: Int64

    /// The maximum number of concurrent heartbeats of a process, each on its own connection.
    package static let mostUnderWay = 8
}

extension Transaction {
    /// Empties the change log and starts a new incarnation, so that every reader drops its caches. A store that was
    /// reset to an earlier state may have other changes under positions that were already read.
    ///
    /// - Throws: `StoreError`.
    package func renewChangeLog() throws {
        try emptyChangeLog()
        try execute(
            "UPDATE change_log_incarnation SET value = $1, purged_below = 0 WHERE id = 1",
            [.text(Self.newIncarnation())])
        try beginChangeLog()
    }

    /// Writes an empty entry. Every reader has thus read at least one entry, and notices if unread entries are missing.
    private func beginChangeLog() throws { try appendChange(kind: 0, key: []) }

    /// Creates the table of the log's incarnation and purge limit. By the limit a returning reader detects missed
    /// entries. In a file it stays 0: the oldest entries are purged first, so a reader misses its own last entry.
    func createIncarnation() throws {
        try execute(
            """
            CREATE TABLE change_log_incarnation (
                id INTEGER PRIMARY KEY, value TEXT NOT NULL, purged_below BIGINT NOT NULL
            )
            """)
        try execute(
            "INSERT INTO change_log_incarnation (id, value, purged_below) VALUES (1, $1, 0)",
            [.text(Self.newIncarnation())])
        try beginChangeLog()
    }

    private static func newIncarnation() -> String { String(UInt64.random(in: 0...UInt64.max), radix: 16) }
}

extension TableShape {
    /// Whether a table belongs to the change log, which is never copied: its entries are useful only to the processes
    /// that read it.
    static func isOfChangeLog(_ name: String) -> Bool { name.hasPrefix("change_log") }
}

/// A store that reports changes of other processes, with the heartbeats that prove the reading is current.
package protocol KeepsChangeLog: Sendable {
    /// The end of the change log, at which a reader without caches starts.
    ///
    /// - Throws: `StoreError`.
    func changePosition() async throws -> ChangePosition

    /// Changes that were committed after a position, up to a limit.
    ///
    /// - Throws: `StoreError`.
    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading

    /// Deletes changes that all readers have consumed. Without readers it deletes none.
    ///
    /// - Throws: `StoreError`.
    func purgeChanges(below positions: [ChangePosition]) async throws

    /// Whether another server wrote the log, as after restoring a dump. Such entries have transaction numbers that this
    /// server has not reached, and readers would miss everything until then.
    ///
    /// - Throws: `StoreError`.
    func hasForeignChangeLog() async throws -> Bool

    /// Starts a new log if another server wrote the current one. Existing readers drop their caches. If several
    /// processes call it at once, one of them succeeds.
    ///
    /// - Returns: whether this call started a new log.
    /// - Throws: `StoreError`.
    @discardableResult
    func adoptChangeLog() async throws -> Bool

    /// Commits a heartbeat and returns it; `nil` for SQLite, whose reads are never stale. A replaced PostgreSQL
    /// server may continue to answer reads, so a process can rely only on its own commits.
    ///
    /// - Throws: `StoreError`. Then the commit proves nothing.
    func heartbeat() async throws -> Heartbeat?
}

package extension KeepsChangeLog {
    func changePosition() async throws -> ChangePosition { throw StoreError.noChangeLog }

    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        throw StoreError.noChangeLog
    }

    func purgeChanges(below positions: [ChangePosition]) async throws { throw StoreError.noChangeLog }

    /// A file numbers its own entries, also after it was moved to another machine.
    func hasForeignChangeLog() async throws -> Bool { false }

    @discardableResult
    func adoptChangeLog() async throws -> Bool { false }

    /// A file is never stale.
    func heartbeat() async throws -> Heartbeat? { nil }
}
