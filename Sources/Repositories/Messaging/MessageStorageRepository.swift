import Database
import Domain
import Foundation

/// The users who decline that their messages are stored for longer than needed.
package struct MessageStorageRepository {
    private let transaction: any Transaction
}

package extension MessageStorageRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let optOut = ColumnTuple(Column<UserID>("user_id"), Column<Date>("since"))

    /// Sets how long a user's messages are stored; `false` if that was set before.
    @discardableResult
    func set(_ storage: MessageStorage, of user: UserID, at time: Date) throws -> Bool {
        switch storage {
        case .keep: try transaction.execute("DELETE FROM storage_opt_outs WHERE user_id = $1", [.id(user)]) > 0
        case .untilDelivered:
            try transaction.execute(
                """
                INSERT INTO storage_opt_outs (\(Self.optOut)) VALUES (\(Self.optOut.placeholders))
                ON CONFLICT (user_id) DO NOTHING
                """, Self.optOut.row(user, time)) > 0
        }
    }

    func storage(of user: UserID) throws -> MessageStorage {
        try transaction.first("SELECT 1 FROM storage_opt_outs WHERE user_id = $1", [.id(user)]) == nil
            ? .keep : .untilDelivered
    }

    /// Whether a member of a stream declines storage. Each member is looked up by a subquery of its own, so that no plan
    /// reads the whole table.
    func isDeclined(in stream: MessageStreamID) throws -> Bool {
        try transaction.value(
            """
            SELECT COALESCE(MAX((SELECT 1 FROM storage_opt_outs o WHERE o.user_id = m.user_id)), 0) FROM stream_members m
            WHERE m.stream_id = $1 AND m.left_at_sequence IS NULL
            """, [.id(stream)], as: Int64.self) == 1
    }

    private static let amongSome = ListStatement {
        "SELECT user_id FROM storage_opt_outs WHERE user_id IN \($0.in)"
    }

    /// The users among some who decline storage.
    func declined(among users: [UserID]) throws -> Set<UserID> {
        let column = ColumnTuple(Column<UserID>("user_id"))
        return Set(try transaction.query(Self.amongSome, list: users.map(\.value)).map(column.read))
    }

    /// All users who decline storage, for a restore.
    func declined() throws -> [UserID] { try transaction.values("SELECT user_id FROM storage_opt_outs") }
}
