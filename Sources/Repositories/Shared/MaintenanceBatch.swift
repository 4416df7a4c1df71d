import Database
import Domain
import Encoding
import Foundation

/// How much of its work a task of maintenance does in one transaction, so that no other writer waits for long.
package struct MaintenanceBatch: Sendable {
    /// How far the batches before it have come, in words of the task's own; `nil` at the beginning.
    package let after: String?
    /// How many rows at most.
    package let limit: Int

    package init(after: String? = nil, limit: Int = 1000) {
        self.after = after
        self.limit = limit
    }

    /// What it came to, if so many rows were found that are out of the way now.
    package func outcome(_ rows: Int) -> Outcome { Outcome(rows: rows, isFinished: rows < limit) }

    /// What a batch came to.
    package struct Outcome: Sendable {
        package let rows: Int
        /// How far it has come, for the next one.
        package let reached: String?
        /// Whether nothing is left to do until the task is due again.
        package let isFinished: Bool

        package init(rows: Int, reached: String? = nil, isFinished: Bool) {
            self.rows = rows
            self.reached = reached
            self.isFinished = isFinished
        }

        /// Of a table that is small enough to be done at once.
        package static func all(_ rows: Int) -> Outcome { Outcome(rows: rows, isFinished: true) }
    }
}

/// The rows of a table that are past some age, oldest first, by an index that begins with it.
///
/// A batch begins where the one before it ended: entries of rows that are gone stay in an index for some time, and every
/// batch would walk over those of all batches before it.
struct AgedRows {
    /// What is done to them: `DELETE FROM sessions`, `UPDATE sessions SET …`.
    let act: String
    let table: String
    /// The primary key, columns separated by commas.
    let key: String
    /// The column of the age: a time, or a number that grows with it.
    let age: Column<Int64>
    /// What else must hold of a row. `$1` is the moment.
    let condition: String

    init(_ act: String? = nil, of table: String, key: String, age: String, and condition: String? = nil) {
        self.act = act ?? "DELETE FROM \(table)"
        self.table = table
        self.key = key
        self.age = Column(age)
        self.condition = condition.map { " AND \($0)" } ?? ""
    }

    /// The act upon some of them, which repeats the condition for rows that others change at this moment. The limit is
    /// part of the text, for a planner takes an unknown one for a tenth of the table, and walks all of it.
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

    /// Carries the act out upon some rows whose age is below a number.
    func take(
        before end: Int64, _ batch: MaintenanceBatch, in transaction: any Transaction
    ) throws -> MaintenanceBatch.Outcome {
        let sql = statement(limit: batch.limit, returning: age.sql)
        return outcome(try transaction.values(sql, arguments(before: end, batch)), of: batch)
    }

    /// Carries the act out upon some rows of before a moment.
    func take(
        before moment: Date, _ batch: MaintenanceBatch, in transaction: any Transaction
    ) throws -> MaintenanceBatch.Outcome {
        try take(before: moment.milliseconds, batch, in: transaction)
    }
}
