import Database
import Domain
import Foundation

/// The newest list of issuers' authorities that a node fetched from a URL. Each is verified by every node that uses it.
/// The dates of different providers are not comparable, so each URL has its own list.
package struct TrustListRepository {
    private let transaction: any Transaction
    private let url: String
}

package extension TrustListRepository {
    init(_ transaction: any Transaction, at url: String) {
        (self.transaction, self.url) = (transaction, url)
    }

    private static let all = ColumnTuple(
        Column<String>("url"), Column<[UInt8]>("body"), Column<Date>("dated_at"), Column<Date?>("next_update"),
        Column<Date>("fetched_at"))
    private static let columns = ColumnTuple(
        Column<Date>("dated_at"), Column<Date?>("next_update"), Column<Date>("fetched_at"))

    /// When the list was made, when its provider makes another, and when it was fetched; `nil` if there is none.
    func times() throws -> (date: Date, nextUpdate: Date?, fetchedAt: Date)? {
        try transaction.first("SELECT \(Self.columns) FROM trust_lists WHERE url = $1", [.text(url)])
            .map(Self.columns.read).map { (date: $0.0, nextUpdate: $0.1, fetchedAt: $0.2) }
    }

    /// The signed bytes of the list; `nil` if there is none.
    func body() throws -> [UInt8]? {
        try transaction.value("SELECT body FROM trust_lists WHERE url = $1", [.text(url)])
    }

    /// Stores a list that was fetched now, unless the stored one is as new.
    ///
    /// - Returns: whether it was stored.
    func store(_ body: [UInt8], date: Date, nextUpdate: Date?) throws -> Bool {
        let now = transaction.now
        let isNew =
            try transaction.execute(
                """
                INSERT INTO trust_lists (\(Self.all)) VALUES (\(Self.all.placeholders))
                ON CONFLICT (url) DO UPDATE SET body = excluded.body, dated_at = excluded.dated_at,
                    next_update = excluded.next_update, fetched_at = excluded.fetched_at
                WHERE trust_lists.dated_at < excluded.dated_at
                """, Self.all.row(url, body, date, nextUpdate, now)) > 0
        if !isNew {
            try transaction.execute(
                "UPDATE trust_lists SET fetched_at = $2 WHERE url = $1", [.text(url), .time(now)])
        }
        return isNew
    }
}
