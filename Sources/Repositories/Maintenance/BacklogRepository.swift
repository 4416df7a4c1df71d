import Database
import Domain
import Foundation

/// What waits to be done, counted up to a bound: a long line costs no more than that to look at.
package struct BacklogRepository {
    /// How many rows of each kind of line are counted at most.
    package static let most = 10_000

    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let lines = ColumnTuple(
        Column<String>("w.kind"), Column<Int>("COUNT(*)"), Column<Date>("MIN(w.due_at)"))

    /// The messages that wait, of those that have been due for longest: how many of each kind, and since when the first.
    package func outbox() throws -> [(kind: String, count: Int, since: Date)] {
        try transaction.query(
            """
            SELECT \(Self.lines) FROM (
                SELECT kind, due_at FROM outbox WHERE state = 'waiting' ORDER BY due_at LIMIT \(Self.most)
            ) AS w GROUP BY w.kind ORDER BY w.kind
            """
        ).map { row in
            let (kind, count, since) = try Self.lines.read(row)
            return (kind, count, since)
        }
    }

    private static let cards = ColumnTuple(Column<Int>("COUNT(*)"), Column<Date?>("MIN(w.submitted_at)"))

    /// The cards that wait for a reviewer, and since when the first of them; `nil` where none waits.
    package func review() throws -> (count: Int, since: Date?) {
        try transaction.first(
            """
            SELECT \(Self.cards) FROM (
                SELECT submitted_at FROM identity_cards WHERE status = 'in_review' ORDER BY submitted_at
                LIMIT \(Self.most)
            ) AS w
            """, []
        ).map { row in
            let (count, since) = try Self.cards.read(row)
            return (count, since)
        } ?? (0, nil)
    }
}
