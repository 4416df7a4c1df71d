import Database
import Domain
import Encoding
import Foundation

/// The archiving of verified users' rows. While an archive is written, `archived_at` is minus the archive's time. It
/// becomes the time at which the archive was durable, and a new proof clears it.
package struct ArchivedUserRepository {
    private let transaction: any Transaction
    private let archive: Int64
}

package extension ArchivedUserRepository {
    /// For the archive that was started at a time.
    init(_ transaction: any Transaction, begunAt moment: Date) {
        self.transaction = transaction
        archive = -moment.milliseconds
    }

    /// A position in the order of verification.
    typealias Mark = (at: Date, user: UserID)

    /// The users to archive who were verified in a period, in the order of verification.
    ///
    /// - Parameters:
    ///   - moment: the start of the period.
    ///   - end: the end of the period, excluded.
    ///   - again: whether to include users of an earlier archive.
    ///   - mark: the last position of the previous call.
    ///   - limit: the largest number of users.
    func waiting(
        since moment: Date, before end: Date, again: Bool, after mark: Mark?, limit: Int
    ) throws -> [Mark] {
        try list(
            since: moment, before: end, "archived_at IS NULL OR archived_at < 0 OR $5 = 1", [Value(again)],
            after: mark, limit: limit)
    }

    /// Marks a user as part of the archive.
    func take(_ user: UserID) throws {
        try transaction.execute(
            "UPDATE authenticated_users SET archived_at = $2 WHERE user_id = $1", [.id(user), .integer(archive)])
    }

    /// The archive's users who have not proved anything else since.
    func taken(since moment: Date, before end: Date, after mark: Mark?, limit: Int) throws -> [Mark] {
        try list(since: moment, before: end, "archived_at = $5", [.integer(archive)], after: mark, limit: limit)
    }

    /// Marks a user's archive as durable.
    ///
    /// - Parameter dropped: the data to delete from the row.
    func settle(_ user: UserID, dropping dropped: Set<ArchivedDatum>) throws {
        try transaction.execute(
            """
            UPDATE authenticated_users SET archived_at = $2,
                postal_address = CASE WHEN $3 = 1 THEN NULL ELSE postal_address END,
                document_number = CASE WHEN $4 = 1 THEN NULL ELSE document_number END
            WHERE user_id = $1 AND archived_at = $5
            """,
            [
                .id(user), .time(transaction.now), Value(dropped.contains(.postalAddress)),
                Value(dropped.contains(.documentNumber)), .integer(archive),
            ])
    }

    private static let mark = ColumnTuple(Column<Date>("identity_verified_at"), Column<UserID>("user_id"))

    private func list(
        since moment: Date, before end: Date, _ condition: String, _ more: [Value], after mark: Mark?, limit: Int
    ) throws -> [Mark] {
        try transaction.query(
            """
            SELECT \(Self.mark) FROM authenticated_users
            WHERE (identity_verified_at, user_id) > ($1, $2) AND identity_verified_at < $3 AND (\(condition))
            ORDER BY identity_verified_at, user_id LIMIT $4
            """,
            [
                .time(mark?.at ?? moment), .text(mark?.user.description ?? ""), .time(end), Value(limit),
            ] + more
        ).map(Self.mark.read)
    }
}
