import Database
import Domain
import Encoding
import Foundation

/// Sent texts and correct codes of groups of requesters by day (UTC). While texts are limited, they decide which groups
/// get texts first. A group is named by a keyed digest of its network.
struct PhoneGroupRepository {
    private let transaction: any Transaction

    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<String>("name"), Column<Int64>("day"), Column<Int>("sends"), Column<Int>("verified"))
    private static let sums = ColumnTuple(
        Column<Int>("CAST(COALESCE(SUM(sends), 0) AS BIGINT)"),
        Column<Int>("CAST(COALESCE(SUM(verified), 0) AS BIGINT)"))

    /// A group's texts in `SendCounts.groupPeriod`: at most eight rows.
    func find(_ name: String) throws -> Conversion {
        let row = try transaction.first(
            "SELECT \(Self.sums) FROM phone_groups WHERE name = $1 AND day >= $2",
            [.text(name), .integer(Self.day(transaction.now.addingTimeInterval(-SendCounts.groupPeriod)))])
        guard let (sends, verified) = try row.map(Self.sums.read) else { return Conversion() }
        return Conversion(sends: sends, verified: verified)
    }

    /// Counts a text, or the correct code for a text of a given time.
    func add(sends: Int, verified: Int, to name: String, at moment: Date) throws {
        try transaction.enqueue(
            """
            INSERT INTO phone_groups (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (name, day) DO UPDATE SET sends = phone_groups.sends + excluded.sends,
                verified = phone_groups.verified + excluded.verified
            """, Self.columns.row(name, Self.day(moment), sends, verified))
    }

    private static let old = AgedRows(of: "phone_groups", key: "name, day", age: "day")

    /// Deletes the rows of days that are no longer read.
    @discardableResult
    func purge(_ batch: MaintenanceBatch = MaintenanceBatch()) throws -> MaintenanceBatch.Outcome {
        let first = Self.day(transaction.now.addingTimeInterval(-SendCounts.groupPeriod))
        return try Self.old.take(before: first, batch, in: transaction)
    }

    /// The number of the day since 1970, UTC.
    static func day(_ moment: Date) -> Int64 {
        Int64(saturating: (moment.timeIntervalSince1970 / 86_400).rounded(.down))
    }
}
