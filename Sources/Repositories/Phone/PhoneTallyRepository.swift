import Database
import Domain
import Encoding
import Foundation

/// Sent texts and correct codes by counter: one row for each counter and five minutes. A counter thus has at most 288
/// rows for the last 24 hours, however many texts were sent.
struct PhoneTallyRepository {
    private let transaction: any Transaction

    /// The length of a step, in seconds. An hour is the current step and the eleven before it.
    static let step: TimeInterval = 300

    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<String>("counter"), Column<Int64>("step"), Column<Int>("sends"), Column<Int>("verified"))
    private static let sums = ColumnTuple(
        Column<String>("counter"), Column<Int>("CAST(SUM(sends) AS BIGINT)"),
        Column<Int>("CAST(SUM(verified) AS BIGINT)"),
        Column<Int>("CAST(SUM(CASE WHEN step > $2 THEN sends ELSE 0 END) AS BIGINT)"),
        Column<Int>("CAST(SUM(CASE WHEN step > $2 THEN verified ELSE 0 END) AS BIGINT)"))

    /// The number of the step that contains a time, since 1970.
    static func step(of moment: Date) -> Int64 {
        Int64(saturating: (moment.timeIntervalSince1970 / step).rounded(.down))
    }

    /// The tallies of some counters; those without rows are omitted.
    func find(_ counters: [String]) throws -> [String: Tally] {
        let now = Self.step(of: transaction.now)
        let places = counters.indices.map { "$\($0 + 3)" }.joined(separator: ", ")
        let rows = try transaction.query(
            """
            SELECT \(Self.sums) FROM phone_tallies WHERE step > $1 AND counter IN (\(places)) GROUP BY counter
            """,
            [.integer(now - Int64(86_400 / Self.step)), .integer(now - Int64(3600 / Self.step))]
                + counters.map(\.value))
        var tallies: [String: Tally] = [:]
        for row in rows {
            let (counter, sendsInDay, verifiedInDay, sendsInHour, verifiedInHour) = try Self.sums.read(row)
            tallies[counter] = Tally(
                hour: Conversion(sends: sendsInHour, verified: verifiedInHour),
                day: Conversion(sends: sendsInDay, verified: verifiedInDay))
        }
        return tallies
    }

    /// Counts a text, or the correct code for a text from a given time.
    func add(sends: Int, verified: Int, to counters: [String], at moment: Date) throws {
        try transaction.execute(
            """
            INSERT INTO phone_tallies (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (counter, step) DO UPDATE SET sends = phone_tallies.sends + excluded.sends,
                verified = phone_tallies.verified + excluded.verified
            """,
            rows: counters.map { Self.columns.row($0, Self.step(of: moment), sends, verified) })
    }

    func reset(_ counter: String) throws {
        try transaction.execute("DELETE FROM phone_tallies WHERE counter = $1", [.text(counter)])
    }

    private static let old = AgedRows(of: "phone_tallies", key: "counter, step", age: "step")

    /// Deletes rows that are too old for every limit.
    @discardableResult
    func purge(_ batch: MaintenanceBatch = MaintenanceBatch()) throws -> MaintenanceBatch.Outcome {
        let end = Self.step(of: transaction.now) - Int64(86_400 / Self.step) + 1
        return try Self.old.take(before: end, batch, in: transaction)
    }
}
