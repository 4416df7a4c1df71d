import Database
import Domain
import Foundation

/// The times at which the keys of issuers were fetched. An attempt is claimed, so one node at a time fetches an
/// issuer's keys.
package struct IssuerRepository {
    private let transaction: any Transaction
}

package extension IssuerRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<IssuerReading>(
        "issuers", IssuerReading.init,
        Field("attempted_at", \.attemptedAt),
        Field("read_at", \.readAt),
        Field("fresh_until", \.freshUntil),
        Field("failure", \.failure))
    private static let insertion = columns.insertion(with: "issuer")
    private static let named = ColumnTuple(Column<String>("issuer"), columns.of("issuers"))

    func find(_ issuer: String) throws -> IssuerReading? {
        try transaction.first(Self.columns, "WHERE issuer = $1", [.text(issuer)])
    }

    /// Records the first fetch of an issuer's keys. If another provider has the issuer already, its record is kept.
    func insert(_ issuer: String, _ reading: IssuerReading) throws {
        try transaction.execute(
            "\(Self.insertion) ON CONFLICT (issuer) DO NOTHING", Self.columns.row(reading, issuer.value))
    }

    /// All issuers. There are at most as many as providers.
    func list() throws -> [String: IssuerReading] {
        let rows = try transaction.query("SELECT \(Self.named) FROM issuers ORDER BY issuer", []).map(Self.named.read)
        return Dictionary(rows.map { ($0.0, $0.1) }) { first, _ in first }
    }

    /// Claims the next attempt; `false` if the last one is too recent. A time in the future, from a clock that was set
    /// back, is ignored.
    func claim(_ issuer: String) throws -> Bool {
        try transaction.execute(
            """
            UPDATE issuers SET attempted_at = $2
            WHERE issuer = $1 AND (attempted_at <= $3 OR attempted_at > $2)
            """, [.text(issuer), .time(transaction.now), .time(lastPause)]) > 0
    }

    /// Whether the last attempt is still that of a claim.
    func isClaimed(_ issuer: String, at claim: Date) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM issuers WHERE issuer = $1 AND attempted_at = $2", [.text(issuer), .time(claim)]) != nil
    }

    /// Records that a claimed attempt fetched the key set, unless a later attempt was made.
    ///
    /// - Parameter defect: the reason if not all of its keys were stored.
    func end(
        _ issuer: String, claimedAt claim: Date, freshFor seconds: TimeInterval, despite defect: String? = nil
    ) throws {
        try transaction.execute(
            """
            UPDATE issuers SET read_at = $2, fresh_until = $3, failure = $4 WHERE issuer = $1 AND attempted_at = $2
            """, [.text(issuer), .time(claim), .time(claim.addingTimeInterval(seconds)), defect.value])
    }

    /// Records that a claimed attempt failed, unless a later attempt was made.
    func end(_ issuer: String, claimedAt claim: Date, failure: String) throws {
        try transaction.execute(
            "UPDATE issuers SET failure = $3 WHERE issuer = $1 AND attempted_at = $2",
            [.text(issuer), .time(claim), .text(failure)])
    }

    /// Issuers whose keys are stale and may be fetched again, up to a limit. The longest waiting comes first, so
    /// unavailable issuers do not delay others.
    func listDue(limit: Int) throws -> [String] {
        try transaction.values(
            """
            SELECT issuer FROM issuers
            WHERE attempted_at <= $1 AND fresh_until <= $2 ORDER BY attempted_at, issuer LIMIT $3
            """, [.time(lastPause), .time(transaction.now), limit.value])
    }

    /// An issuer may be tried again if its last attempt is older.
    private var lastPause: Date { transaction.now.addingTimeInterval(-IssuerReading.pause) }
}
