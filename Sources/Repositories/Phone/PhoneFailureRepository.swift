import Database
import Domain
import Encoding
import Foundation

/// Wrong codes in a row, by user and number.
package struct PhoneFailureRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// What a failed check that belongs to no number is noted under.
    package static let noNumber = Digest256.of("no number")

    /// The streak of a user for a number.
    package func find(userID: UserID, numberIndexes: [Digest256]) throws -> FailureStreak {
        for index in numberIndexes {
            let row = try transaction.first(
                "SELECT failures, frozen_until FROM phone_failures WHERE user_id = $1 AND number_index = $2",
                [.id(userID), .bytes(index.bytes)])
            if let row { return FailureStreak(count: Int(try row.integer(0)), frozenUntil: try row.timeOrNull(1)) }
        }
        return FailureStreak()
    }

    /// Keeps the streak. Every failed check writes one row here, an unknown verification's too: all cost the same.
    package func save(_ streak: FailureStreak, userID: UserID, numberIndex: Digest256) throws {
        try transaction.execute(
            """
            INSERT INTO phone_failures (user_id, number_index, failures, frozen_until, updated_at)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (user_id, number_index) DO UPDATE SET
                failures = excluded.failures, frozen_until = excluded.frozen_until, updated_at = excluded.updated_at
            """,
            [
                .id(userID), .bytes(numberIndex.bytes), Value(streak.count), .time(streak.frozenUntil),
                .time(transaction.now),
            ])
    }

    /// Forgets streaks that were not touched since a moment and freeze nobody.
    package func purge(before moment: Date) throws {
        try transaction.execute(
            "DELETE FROM phone_failures WHERE updated_at < $1 AND (frozen_until IS NULL OR frozen_until < $1)",
            [.time(moment)])
    }
}
