import Database
import Domain
import Foundation

/// The schedule and the leases of maintenance tasks. Leases expire by the store's clock, also if their holder died.
package struct MaintenanceTaskRepository {
    private let transaction: any Transaction
}

package extension MaintenanceTaskRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    struct Entry: Sendable, Equatable {
        package let name: String
        package let dueAt: Date
        /// The end of the lease; in the past if there is none.
        let leasedUntil: Date
        /// The start of the running run; `nil` between runs.
        package let startedAt: Date?
        /// The rows processed in that run.
        package let rows: Int
        /// The end of the last complete run; `nil` before the first.
        package let endedAt: Date?
        /// The rows processed in that run.
        package let lastRows: Int
        /// The number of failures since then.
        package let failures: Int

        /// How long a due task may take before it is overdue, in seconds.
        static let patience: TimeInterval = 900
    }

    private static let columns = Table<Entry>(
        "maintenance_tasks", Entry.init,
        Field("name", \.name),
        Field("due_at", \.dueAt),
        Field("leased_until", \.leasedUntil),
        Field("started_at", \.startedAt),
        Field("row_count", \.rows),
        Field("ended_at", \.endedAt),
        Field("last_row_count", \.lastRows),
        Field("failures", \.failures))
    private static let insertion = columns.insertion(with: "holder")

    /// Every task that was ever started, by name.
    func list() throws -> [Entry] {
        try transaction.query(Self.columns, "ORDER BY name")
    }

    /// The start of a holder's work.
    struct Lease: Sendable {
        /// The position that earlier leases of the run reached.
        package let reached: String?
    }

    /// Leases a due task; `nil` if it is not due, or leased already.
    ///
    /// - Parameter holder: a new name for each lease.
    func lease(_ name: String, to holder: String, for seconds: TimeInterval) throws -> Lease? {
        let now = transaction.now
        let first = Entry(
            name: name, dueAt: now, leasedUntil: now.addingTimeInterval(seconds), startedAt: now, rows: 0, endedAt: nil,
            lastRows: 0, failures: 0)
        return try transaction.first(
            """
            \(Self.insertion)
            ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until,
                started_at = COALESCE(maintenance_tasks.started_at, excluded.started_at)
            WHERE maintenance_tasks.leased_until <= excluded.started_at
                AND maintenance_tasks.due_at <= excluded.started_at
            RETURNING reached
            """, Self.columns.row(first, holder.value)
        ).map { Lease(reached: try String?.read($0, 0)) }
    }

    /// Extends a lease, and blocks other holders until the transaction ends; `false` if the lease was lost. Then the
    /// transaction must be rolled back.
    func keep(_ name: String, as holder: String, for seconds: TimeInterval) throws -> Bool {
        try transaction.execute(
            "UPDATE maintenance_tasks SET leased_until = $3 WHERE name = $1 AND holder = $2",
            [.text(name), .text(holder), .time(transaction.now.addingTimeInterval(seconds))]) > 0
    }

    /// Stores the outcome of a batch.
    func record(_ outcome: MaintenanceBatch.Outcome, of name: String) throws {
        try transaction.enqueue(
            "UPDATE maintenance_tasks SET reached = $2, row_count = row_count + $3 WHERE name = $1",
            [.text(name), outcome.reached.value, outcome.rows.value])
    }

    /// Releases an unfinished task. The next holder continues from its position.
    func release(_ name: String, as holder: String) throws {
        try transaction.execute(
            "UPDATE maintenance_tasks SET holder = NULL, leased_until = 0 WHERE name = $1 AND holder = $2",
            [.text(name), .text(holder)])
    }

    /// Ends a run.
    ///
    /// - Parameter interval: seconds until the task is due again.
    func finish(_ name: String, as holder: String, dueAgainAfter interval: TimeInterval) throws {
        try transaction.execute(
            """
            UPDATE maintenance_tasks SET holder = NULL, leased_until = 0, due_at = $3, started_at = NULL, ended_at = $4,
                last_row_count = row_count, row_count = 0, reached = NULL, failures = 0
            WHERE name = $1 AND holder = $2
            """,
            [
                .text(name), .text(holder), .time(transaction.now.addingTimeInterval(interval)),
                .time(transaction.now),
            ])
    }

    /// Releases a failed task. It stays due, but cannot be leased until it may be retried.
    ///
    /// - Parameter pause: seconds until then.
    func fail(_ name: String, as holder: String, pause: TimeInterval) throws {
        try transaction.execute(
            """
            UPDATE maintenance_tasks SET holder = NULL, leased_until = $3, failures = failures + 1
            WHERE name = $1 AND holder = $2
            """, [.text(name), .text(holder), .time(transaction.now.addingTimeInterval(pause))])
    }
}

package extension MaintenanceTaskRepository.Entry {
    /// Whether it is overdue: it fails, has too much work, or no process runs it.
    func isOverdue(at now: Date) -> Bool { now > dueAt.addingTimeInterval(Self.patience) }

    /// Whether it is overdue in a store that some nodes serve. The time counts from the start of the oldest node,
    /// since nothing ran the tasks before, as in a restored store. Without a node nothing is overdue.
    func isOverdue(at now: Date, servedBy nodes: [ClusterMember]) -> Bool {
        guard let start = nodes.map(\.startedAt).min() else { return false }
        return isOverdue(at: now) && now > start.addingTimeInterval(Self.patience)
    }

    /// Whether a process may start or continue it.
    func isFree(at now: Date) -> Bool { dueAt <= now && leasedUntil <= now }
}
