import Database
import Domain
import Foundation

/// When each task of maintenance ran and is due, and which process has it. A lease is judged by the store's clock; one
/// whose holder died runs out.
package struct MaintenanceTaskRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// A task as the store knows it.
    package struct Entry: Sendable, Equatable {
        package let name: String
        package let dueAt: Date
        /// Until when somebody has it; in the past if nobody does.
        let leasedUntil: Date
        /// When the run began that is under way; `nil` between runs.
        package let startedAt: Date?
        /// How many rows that run has come to.
        package let rows: Int
        /// When the last whole run ended; `nil` before the first.
        package let endedAt: Date?
        /// How many rows that run came to.
        package let lastRows: Int
        /// How often it failed since.
        package let failures: Int

        /// Seconds that a task may take once it is due.
        package static let patience: TimeInterval = 900

        /// Whether it should have been done by now: it fails, has too much to do, or nobody does it.
        package func isOverdue(at now: Date) -> Bool { now > dueAt.addingTimeInterval(Self.patience) }

        /// Whether somebody may begin or continue it.
        package func isFree(at now: Date) -> Bool { dueAt <= now && leasedUntil <= now }
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

    /// Every task that was begun once, by name.
    package func list() throws -> [Entry] {
        try transaction.query(Self.columns, "ORDER BY name")
    }

    /// What a holder goes on from.
    package struct Lease: Sendable {
        /// How far earlier turns of the same run have come.
        package let reached: String?
    }

    /// Takes a task that is due; `nil` if it is not, or another one has it.
    ///
    /// - Parameter holder: another name for each lease.
    package func lease(_ name: String, to holder: String, for seconds: TimeInterval) throws -> Lease? {
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

    /// Keeps a lease for so many seconds from now, and everybody else out until the transaction ends; `false` if it is
    /// lost: then nothing of the transaction may stay.
    package func keep(_ name: String, as holder: String, for seconds: TimeInterval) throws -> Bool {
        try transaction.execute(
            "UPDATE maintenance_tasks SET leased_until = $3 WHERE name = $1 AND holder = $2",
            [.text(name), .text(holder), .time(transaction.now.addingTimeInterval(seconds))]) > 0
    }

    /// Writes what a batch came to.
    package func record(_ outcome: MaintenanceBatch.Outcome, of name: String) throws {
        try transaction.enqueue(
            "UPDATE maintenance_tasks SET reached = $2, row_count = row_count + $3 WHERE name = $1",
            [.text(name), outcome.reached.value, outcome.rows.value])
    }

    /// Gives a task back that is not done; whoever takes it goes on where this holder ended.
    package func release(_ name: String, as holder: String) throws {
        try transaction.execute(
            "UPDATE maintenance_tasks SET holder = NULL, leased_until = 0 WHERE name = $1 AND holder = $2",
            [.text(name), .text(holder)])
    }

    /// Ends a run.
    ///
    /// - Parameter interval: seconds until the task is due again.
    package func finish(_ name: String, as holder: String, dueAgainAfter interval: TimeInterval) throws {
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

    /// Gives a task back that has failed. It is due as before, and leased to nobody until it is to be tried again.
    ///
    /// - Parameter pause: seconds until then.
    package func fail(_ name: String, as holder: String, pause: TimeInterval) throws {
        try transaction.execute(
            """
            UPDATE maintenance_tasks SET holder = NULL, leased_until = $3, failures = failures + 1
            WHERE name = $1 AND holder = $2
            """, [.text(name), .text(holder), .time(transaction.now.addingTimeInterval(pause))])
    }
}
