import Database
import Domain
import Foundation

/// Whom users do not want to hear of.
package struct BlockRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<UserID>("blocker_id"), Column<UserID>("blocked_id"), Column<Date>("created_at"))

    /// A user wants to hear nothing of another from now on; nothing changes if that was so before.
    package func insert(_ blocker: UserID, blocks blocked: UserID, at time: Date) throws {
        try transaction.execute(
            """
            INSERT INTO blocks (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (blocker_id, blocked_id) DO NOTHING
            """, Self.columns.row(blocker, blocked, time))
    }

    /// A user takes a block back; nothing changes if there was none.
    package func delete(_ blocker: UserID, blocks blocked: UserID) throws {
        try transaction.execute(
            "DELETE FROM blocks WHERE blocker_id = $1 AND blocked_id = $2", [.id(blocker), .id(blocked)])
    }

    /// Whether a user blocks another.
    package func holds(_ blocker: UserID, blocks blocked: UserID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM blocks WHERE blocker_id = $1 AND blocked_id = $2", [.id(blocker), .id(blocked)]) != nil
    }

    /// Whom a user blocks, oldest first.
    package func list(of blocker: UserID) throws -> [UserID] {
        try transaction.values(
            "SELECT blocked_id FROM blocks WHERE blocker_id = $1 ORDER BY created_at, blocked_id", [.id(blocker)])
    }

    /// Forgets whom a user blocks. That others block the user is theirs, and stays.
    package func erase(_ blocker: UserID) throws {
        try transaction.execute("DELETE FROM blocks WHERE blocker_id = $1", [.id(blocker)])
    }
}
