import Foundation

/// One entry of the change log: something that a process may remember has changed.
package struct LoggedChange: Sendable, Equatable {
    /// What was changed, a number of the program's own.
    package let kind: Int
    /// Which one of it.
    package let key: [UInt8]
}

/// How far a reader of the change log has come. What it consists of is the engine's matter.
package struct ChangePosition: Sendable, Hashable {
    /// An entry that was read, by which a log that was put back to an earlier state is known.
    struct Mark: Sendable, Hashable {
        /// The transaction that wrote it; 0 where one writer numbers all entries.
        var transaction: Int64
        var number: Int64
        var tag: Int64
    }

    /// Where to go on within what one snapshot shows.
    struct Page: Sendable, Hashable {
        var snapshot: String
        /// The last entry of the page before.
        var mark: Mark
    }

    /// Which life of the log it belongs to.
    var incarnation: String
    /// In which the log was read; empty where entries have one order.
    var snapshot: String
    /// The youngest entry that was read when a reading was last complete.
    var last: Mark?
    var page: Page?
    /// Since when the oldest open transaction has been the same, in milliseconds of the server's clock.
    var horizonSince: Int64?
    /// Which run of which server was read: when it started, in microseconds. `nil` where there is none.
    var server: Int64?

    init(incarnation: String, snapshot: String = "", last: Mark? = nil, server: Int64? = nil) {
        (self.incarnation, self.snapshot, self.last, self.server) = (incarnation, snapshot, last, server)
    }
}

extension ChangePosition {
    /// The position for a table: who reads on from it may be given again what the last call gave.
    package var text: String {
        let mark = last.map { "\($0.transaction)/\($0.number)/\($0.tag)" } ?? ""
        return "\(incarnation)/\(snapshot)/\(mark)"
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    package init?(text: String) {
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

/// What the change log says after a position.
package struct ChangeReading: Sendable {
    /// Each change that was committed since, once. What one transaction wrote, and transactions that followed one
    /// another, keep their order.
    package let changes: [LoggedChange]
    /// Where to go on.
    package let position: ChangePosition
    /// Whether the log is another than the one that the position belongs to, or was put back to an earlier state: what
    /// changed is not known, and whoever remembers anything forgets it.
    package let isInterrupted: Bool
    /// Whether there is more to read at once.
    package let hasMore: Bool
    /// For how many seconds at least the oldest transaction of the server has been open: what it changes is not in the
    /// log yet.
    package let horizonAge: Double
    /// The store's clock when it was read; `nil` where the log was interrupted.
    package let now: Date?

    package init(
        changes: [LoggedChange], position: ChangePosition, isInterrupted: Bool, hasMore: Bool, horizonAge: Double,
        now: Date?
    ) {
        (self.changes, self.position, self.isInterrupted) = (changes, position, isInterrupted)
        (self.hasMore, self.horizonAge, self.now) = (hasMore, horizonAge, now)
    }
}

/// A commit by which a process tells that it reaches the server that takes writes, and no other.
package struct Heartbeat: Sendable, Hashable {
    /// The number of its transaction.
    let transaction: Int64
    /// Which run of which server gave the number, as in ``ChangePosition``.
    let server: Int64

    /// How many a process has under way at most, each on a connection of its own.
    package static let mostUnderWay = 8
}

extension Transaction {
    /// Empties the change log and begins another life of it, after which every reader forgets what it remembers: a store
    /// that was put back to an earlier state may hold any other changes under positions that were read before.
    ///
    /// - Throws: `StoreError`.
    package func renewChangeLog() throws {
        try emptyChangeLog()
        try execute(
            "UPDATE change_log_incarnation SET value = $1, purged_below = 0 WHERE id = 1",
            [.text(Self.newIncarnation())])
        try beginChangeLog()
    }

    /// Writes an entry that says nothing. Who reads a log has always come behind some entry, and so notices that entries
    /// are gone which it has not read.
    private func beginChangeLog() throws { try appendChange(kind: 0, key: []) }

    /// Creates the table with the log's life, and up to where entries were purged, for readers that come back. A file
    /// leaves that at 0: its oldest entries are purged first, so a reader misses its own.
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
    /// Whether a table belongs to the change log. It is no part of a copy: what it says is of use to the processes alone
    /// that read it.
    static func isOfChangeLog(_ name: String) -> Bool { name.hasPrefix("change_log") }
}

/// A store that tells its readers what others changed: the change log, and what a process proves by it.
package protocol KeepsChangeLog: Sendable {
    /// The end of the change log: where a reader begins that remembers nothing yet.
    ///
    /// - Throws: `StoreError`.
    func changePosition() async throws -> ChangePosition

    /// What was committed after a position and not read yet, at most so many changes.
    ///
    /// - Throws: `StoreError`.
    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading

    /// Lets go of changes that every one of these readers has read; of none where there is no reader.
    ///
    /// - Throws: `StoreError`.
    func purgeChanges(below positions: [ChangePosition]) async throws

    /// Whether another server wrote the log, as if a dump of it was restored here: its entries bear numbers that this
    /// server has yet to give out, and readers would wait behind them.
    ///
    /// - Throws: `StoreError`.
    func hasForeignChangeLog() async throws -> Bool

    /// Begins the log anew where another server wrote it. Readers of before forget what they remember; of several
    /// callers at once, one does it.
    ///
    /// - Returns: whether this call did.
    /// - Throws: `StoreError`.
    @discardableResult
    func adoptChangeLog() async throws -> Bool

    /// Commits something, and tells what; `nil` where every reading is as young as the store itself, as that of a file
    /// is. A server that another has replaced may go on answering readers, and it is by its own commits that a process
    /// knows better.
    ///
    /// - Throws: `StoreError`; then the commit proves nothing.
    func heartbeat() async throws -> Heartbeat?
}

extension KeepsChangeLog {
    /// A store without a change log.
    package func changePosition() async throws -> ChangePosition { throw StoreError.noChangeLog }

    /// A store without a change log.
    package func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        throw StoreError.noChangeLog
    }

    /// A store without a change log.
    package func purgeChanges(below positions: [ChangePosition]) async throws { throw StoreError.noChangeLog }

    /// A file numbers its entries by itself, wherever it lies.
    package func hasForeignChangeLog() async throws -> Bool { false }

    /// Nothing is to be done for a file.
    @discardableResult
    package func adoptChangeLog() async throws -> Bool { false }

    /// A store that is one file, which has no other in its place.
    package func heartbeat() async throws -> Heartbeat? { nil }
}
