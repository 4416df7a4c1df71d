import Database
import Domain
import Foundation

/// The backlogs. They are counted up to a limit, so a long backlog is as cheap to read as a short one.
package struct BacklogRepository {
    /// The maximum number of counted rows of each backlog.
    static let most = 10_000

    private let transaction: any Transaction
}

package extension BacklogRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let lines = ColumnTuple(
        Column<String>("w.kind"), Column<Int>("COUNT(*)"), Column<Date>("MIN(w.due_at)"))

    /// The waiting messages that have been due longest: the number of each kind, and the oldest due time.
    func outbox() throws -> [(kind: String, count: Int, since: Date)] {
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

    /// The number of cards in review, and the oldest submission; `nil` if there is none.
    func review() throws -> (count: Int, since: Date?) {
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
