import Database
import Domain
import Encoding
import Foundation

/// Consecutive wrong codes, by user and number.
package struct PhoneFailureRepository {
    private let transaction: any Transaction
}

package extension PhoneFailureRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let streak = ColumnTuple(Column<Int>("failures"), Column<Date?>("frozen_until"))
    private static let columns = ColumnTuple(
        Column<UserID>("user_id"), Column<Digest256>("number_index"), Column<Int>("failures"),
        Column<Date?>("frozen_until"), Column<Date>("updated_at"))

    /// The index for a failed check of an unknown verification, which has no number.
    static let noNumber = Digest256.of("no number")

    func find(userID: UserID, numberIndexes: [Digest256]) throws -> PhoneVerification.FailureStreak {
        for index in numberIndexes {
            let row = try transaction.first(
                "SELECT \(Self.streak) FROM phone_failures WHERE user_id = $1 AND number_index = $2",
                [.id(userID), index.value])
            if let (count, frozenUntil) = try row.map(Self.streak.read) {
                return PhoneVerification.FailureStreak(count: count, frozenUntil: frozenUntil)
            }
        }
        return PhoneVerification.FailureStreak()
    }

    /// Stores the streak. Every failed check writes one row here, even for an unknown verification, so all have equal
    /// cost.
    func save(_ streak: PhoneVerification.FailureStreak, userID: UserID, numberIndex: Digest256) throws {
        try transaction.execute(
            """
            INSERT INTO phone_failures (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (user_id, number_index) DO UPDATE SET
                failures = excluded.failures, frozen_until = excluded.frozen_until, updated_at = excluded.updated_at
            """,
            Self.columns.row(userID, numberIndex, streak.count, streak.frozenUntil, transaction.now))
    }

    private static let old = AgedRows(
        of: "phone_failures", key: "user_id, number_index", age: "updated_at",
        and: "(frozen_until IS NULL OR frozen_until < $1)")

    /// Deletes streaks that have not changed since a time and freeze no user's checks.
    @discardableResult
    func purge(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }
}
