import Database
import Domain
import Encoding
import Foundation

/// The downloadable sets of findable numbers, by week, and the number of evaluations for each proven number.
package struct DiscoveryRepository {
    private let transaction: any Transaction

    /// Removes a user's number from every week's set.
    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM discovery_entries WHERE user_id = $1", [.id(user)])
    }
}

package extension DiscoveryRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// A findable number without an entry of a week.
    struct Lacking: Sendable {
        package let user: UserID
        package let provider: ProviderID
        /// The blind index of the number. The computed entry is used only if the number is still the user's.
        let number: Digest256
        /// The last week that has an entry.
        package let filled: DiscoveryWeek
    }

    private static let lacking = ColumnTuple(
        Column<UserID>("f.user_id"), Column<ProviderID>("a.provider_id"), Column<Digest256>("a.phone_index"),
        Column<Int64>("f.filled_week"))

    /// Some of the numbers without an entry of a week, longest waiting first.
    func lacking(_ week: DiscoveryWeek, limit: Int) throws -> [Lacking] {
        try transaction.query(
            """
            SELECT \(Self.lacking) FROM findable_addresses f JOIN authenticated_users a ON a.user_id = f.user_id
            WHERE f.type = 'phone' AND f.filled_week < $1 AND a.suspended IS NULL
            ORDER BY f.filled_week, f.user_id LIMIT \(limit)
            """, [.integer(week.number)]
        ).map { row in
            let (user, provider, number, filled) = try Self.lacking.read(row)
            return Lacking(user: user, provider: provider, number: number, filled: DiscoveryWeek(filled))
        }
    }

    private static let columns = ColumnTuple(
        Column<UserID>("user_id"), Column<Int64>("week"), Column<ProviderID>("provider_id"), Column<[UInt8]>("tag"),
        Column<[UInt8]>("masked"))

    /// Stores the entry of a number, if it is still the user's and findable.
    ///
    /// - Parameter entry: `nil` if none could be made. The number then waits for the next week.
    /// - Returns: whether an entry was added.
    func fill(_ one: Lacking, _ entry: DiscoveryBucket.Entry?, of week: DiscoveryWeek) throws -> Bool {
        let isStill = try transaction.execute(
            """
            UPDATE findable_addresses SET filled_week = $1
            WHERE user_id = $2 AND type = 'phone' AND filled_week = $3 AND EXISTS (
                SELECT 1 FROM authenticated_users a
                WHERE a.user_id = findable_addresses.user_id AND a.phone_index = $4 AND a.suspended IS NULL)
            """, [.integer(week.number), .id(one.user), .integer(one.filled.number), one.number.value])
        guard isStill == 1, let entry else { return false }
        try transaction.execute(
            """
            INSERT INTO discovery_entries (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (week, provider_id, tag) DO UPDATE SET user_id = excluded.user_id, masked = excluded.masked
            """, Self.columns.row(one.user, week.number, one.provider, entry.tag, entry.masked))
        return true
    }

    private static let read = ColumnTuple(Column<[UInt8]>("tag"), Column<[UInt8]>("masked"))

    /// Some entries of a bucket, ordered by tag.
    ///
    /// - Parameter tag: the last one of the previous page; `nil` for the first page.
    func list(
        _ bucket: DiscoveryBucket, after tag: [UInt8]?, in week: DiscoveryWeek, of provider: ProviderID, limit: Int
    ) throws -> [DiscoveryBucket.Entry] {
        let (from, to) = bucket.tags
        let end = to == nil ? "" : " AND tag < $4"
        return try transaction.query(
            """
            SELECT \(Self.read) FROM discovery_entries
            WHERE week = $1 AND provider_id = $2 AND tag \(tag == nil ? ">=" : ">") $3\(end)
            ORDER BY tag LIMIT \(limit)
            """, [.integer(week.number), .id(provider), .bytes(tag ?? from)] + (to.map { [.bytes($0)] } ?? [])
        ).map(Self.read.read).map { DiscoveryBucket.Entry(tag: $0, masked: $1) }
    }

    private static let old = AgedRows(of: "discovery_entries", key: "user_id, week", age: "week")

    func purge(
        before week: DiscoveryWeek, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: week.number, batch, in: transaction)
    }

    private static let budget = ColumnTuple(
        Column<Int64>("day"), Column<Digest256>("number_index"), Column<Int>("used"))

    /// Counts evaluations for a proven number on this day (UTC), before they are made.
    ///
    /// - Returns: `false` if they would exceed the limit. Then they are not counted.
    func count(_ evaluations: Int, for number: Digest256, limit: Int) throws -> Bool {
        guard evaluations <= limit else { return false }
        return try transaction.execute(
            """
            INSERT INTO discovery_budgets (\(Self.budget)) VALUES (\(Self.budget.placeholders))
            ON CONFLICT (day, number_index) DO UPDATE SET used = discovery_budgets.used + excluded.used
            WHERE discovery_budgets.used + excluded.used <= $4
            """, Self.budget.row(Self.day(transaction.now), number, evaluations) + [limit.value]) == 1
    }

    /// The number of the day since 1970 (UTC).
    private static func day(_ time: Date) -> Int64 { time.milliseconds / 86_400_000 }

    private static let oldBudgets = AgedRows(of: "discovery_budgets", key: "day, number_index", age: "day")

    /// Deletes the counts of past days.
    func purgeBudgets(_ batch: MaintenanceBatch = MaintenanceBatch()) throws -> MaintenanceBatch.Outcome {
        try Self.oldBudgets.take(before: Self.day(transaction.now), batch, in: transaction)
    }
}
