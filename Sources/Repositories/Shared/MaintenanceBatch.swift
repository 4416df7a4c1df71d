import Database
import Domain
import Encoding
import Foundation

/// The part of a maintenance task in one transaction, so that no other writer waits for long.
package struct MaintenanceBatch: Sendable {
    /// The position reached by the previous batches, in a form of the task's own; `nil` at the start.
    package let after: String?
    /// The maximum number of rows.
    package let limit: Int

    package init(after: String? = nil, limit: Int = 1000) {
        self.after = after
        self.limit = limit
    }
}

package extension MaintenanceBatch {
    /// The outcome after this number of rows was found and processed.
    func outcome(_ rows: Int) -> Outcome { Outcome(rows: rows, isFinished: rows < limit) }

    /// The result of a batch.
    struct Outcome: Sendable {
        let rows: Int
        /// The position for the next batch.
        package let reached: String?
        /// Whether the task is finished until it is due again.
        package let isFinished: Bool

        package init(rows: Int, reached: String? = nil, isFinished: Bool) {
            self.rows = rows
            self.reached = reached
            self.isFinished = isFinished
        }

        /// The outcome for a small table that is processed at once.
        package static func all(_ rows: Int) -> Outcome { Outcome(rows: rows, isFinished: true) }
    }
}

/// The rows of a table that are older than a limit, oldest first, by an index that starts with the age.
///
/// A batch starts at the end of the previous one. Deleted rows stay in an index for some time, and every batch would
/// scan those of all previous batches.
struct AgedRows {
    /// The start of the statement, such as `DELETE FROM sessions` or `UPDATE sessions SET …`.
    let act: String
    let table: String
    /// The primary key, columns separated by commas.
    let key: String
    /// The column of the age: a time, or a number that rises with time.
    let age: Column<Int64>
    /// A further condition on rows. `$1` is the time.
    let condition: String

    init(_ act: String? = nil, of table: String, key: String, age: String, and condition: String? = nil) {
        self.act = act ?? "DELETE FROM \(table)"
        self.table = table
        self.key = key
        self.age = Column(age)
        self.condition = condition.map { " AND \($0)" } ?? ""
    }

    /// The action on some of the rows. It repeats the condition, because rows may change concurrently. The limit is
    /// part of the text: for an unknown one a planner assumes a tenth of the table and scans all of it.
    func statement(limit: Int, returning: String) -> String {
        """
        \(act) WHERE (\(key)) IN (
            SELECT \(key) FROM \(table) WHERE \(age.sql) >= $2 AND \(age.sql) < $1\(condition)
            ORDER BY \(age.sql) LIMIT \(limit)
        ) AND +\(age.sql) < $1\(condition)
        RETURNING \(returning)
        """
    }

    func arguments(before end: Int64, _ batch: MaintenanceBatch) -> [Value] {
        [.integer(end), .integer(batch.after.flatMap { Int64($0) } ?? .min)]
    }

    func outcome(_ ages: [Int64], of batch: MaintenanceBatch) -> MaintenanceBatch.Outcome {
        MaintenanceBatch.Outcome(
            rows: ages.count, reached: ages.max().map { String($0) } ?? batch.after,
            isFinished: ages.count < batch.limit)
    }

    /// Runs the action on some rows with an age below a number.
    func take(
        before end: Int64, _ batch: MaintenanceBatch, in transaction: any Transaction
    ) throws -> MaintenanceBatch.Outcome {
        let sql = statement(limit: batch.limit, returning: age.sql)
        return outcome(try transaction.values(sql, arguments(before: end, batch)), of: batch)
    }

    /// Runs the action on some rows from before a time.
    func take(
        before moment: Date, _ batch: MaintenanceBatch, in transaction: any Transaction
    ) throws -> MaintenanceBatch.Outcome {
        try take(before: moment.milliseconds, batch, in: transaction)
    }
}
