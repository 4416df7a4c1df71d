import Database
import Domain
import Foundation

/// When the keys of issuers were read. A try belongs to whoever claimed it: of all nodes one reads an issuer at a time.
package struct IssuerRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
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

    package func find(_ issuer: String) throws -> IssuerReading? {
        try transaction.first(Self.columns, "WHERE issuer = $1", [.text(issuer)])
    }

    /// Writes that a new issuer was read. What is known of one that another provider has stays.
    package func insert(_ issuer: String, _ reading: IssuerReading) throws {
        try transaction.execute(
            "\(Self.insertion) ON CONFLICT (issuer) DO NOTHING", Self.columns.row(reading, issuer.value))
    }

    /// All issuers. There are no more of them than providers.
    package func list() throws -> [String: IssuerReading] {
        let rows = try transaction.query("SELECT \(Self.named) FROM issuers ORDER BY issuer", []).map(Self.named.read)
        return Dictionary(rows.map { ($0.0, $0.1) }) { first, _ in first }
    }

    /// Claims the next try; `false` if the last one is not long enough ago. One of a clock that was set back is.
    package func claim(_ issuer: String) throws -> Bool {
        try transaction.execute(
            """
            UPDATE issuers SET attempted_at = $2
            WHERE issuer = $1 AND (attempted_at <= $3 OR attempted_at > $2)
            """, [.text(issuer), .time(transaction.now), .time(lastPause)]) > 0
    }

    /// Whether the last try is still the one of a claim.
    package func isClaimed(_ issuer: String, at claim: Date) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM issuers WHERE issuer = $1 AND attempted_at = $2", [.text(issuer), .time(claim)]) != nil
    }

    /// Writes that a claimed try read the key set. What a later one found stays.
    ///
    /// - Parameter defect: why not all of its keys were stored.
    package func end(
        _ issuer: String, claimedAt claim: Date, freshFor seconds: TimeInterval, despite defect: String? = nil
    ) throws {
        try transaction.execute(
            """
            UPDATE issuers SET read_at = $2, fresh_until = $3, failure = $4 WHERE issuer = $1 AND attempted_at = $2
            """, [.text(issuer), .time(claim), .time(claim.addingTimeInterval(seconds)), defect.value])
    }

    /// Writes that a claimed try failed. What a later one found stays.
    package func end(_ issuer: String, claimedAt claim: Date, failure: String) throws {
        try transaction.execute(
            "UPDATE issuers SET failure = $3 WHERE issuer = $1 AND attempted_at = $2",
            [.text(issuer), .time(claim), .text(failure)])
    }

    /// The issuers whose keys are fresh no more and may be tried again, no more than a number. The one that was tried longest
    /// ago comes first, so that issuers that are away keep no other waiting.
    package func listDue(limit: Int) throws -> [String] {
        try transaction.values(
            """
            SELECT issuer FROM issuers
            WHERE attempted_at <= $1 AND fresh_until <= $2 ORDER BY attempted_at, issuer LIMIT $3
            """, [.time(lastPause), .time(transaction.now), limit.value])
    }

    /// Whoever was tried by then may be tried again.
    private var lastPause: Date { transaction.now.addingTimeInterval(-IssuerReading.pause) }
}
