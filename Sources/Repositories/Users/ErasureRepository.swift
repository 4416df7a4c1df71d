import Database
import Domain
import Foundation

/// Pending erasures: users with more rows than one transaction erases.
///
/// Readers do not see these rows after the first transaction, because statements check `isUnderWay`. The user cannot
/// sign in before the last row is deleted, so new data cannot be mixed with old data.
package struct ErasureRepository {
    private let transaction: any Transaction

    /// Whether rows of a user remain to be erased.
    ///
    /// - Parameter user: an expression, which may be null, with the name of its table.
    static func isUnderWay(_ user: String) -> String {
        "EXISTS (SELECT 1 FROM erasures x WHERE x.user_id = \(user))"
    }

    /// An expression that is null if its user is being erased.
    static func hidden(_ expression: String, of user: String) -> String {
        "CASE WHEN \(isUnderWay(user)) THEN NULL ELSE \(expression) END"
    }
}

package extension ErasureRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(Column<UserID>("user_id"), Column<Date>("at"))

    /// Records that rows of a user remain. Until they are erased, the user cannot sign in.
    func begin(_ user: UserID, at time: Date) throws {
        try transaction.execute(
            """
            INSERT INTO erasures (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (user_id) DO NOTHING
            """, Self.columns.row(user, time))
        try GenerationRepository(transaction).setMayBeBanned(true, .user(user))
    }

    func isUnderWay(_ user: UserID) throws -> Bool {
        try transaction.first("SELECT 1 FROM erasures WHERE user_id = $1", [.id(user)]) != nil
    }

    /// The user who has waited longest, and the start of the erasure; `nil` if there is none.
    func next() throws -> (user: UserID, at: Date)? {
        try transaction.first("SELECT \(Self.columns) FROM erasures ORDER BY at, user_id LIMIT 1").map { row in
            let (user, at) = try Self.columns.read(row)
            return (user, at)
        }
    }

    /// Records that the erasure is complete.
    func finish(_ user: UserID) throws {
        try transaction.execute("DELETE FROM erasures WHERE user_id = $1", [.id(user)])
    }
}
