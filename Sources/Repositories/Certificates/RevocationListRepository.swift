import Database
import Foundation

/// The certificate revocation list in force, numbered (RFC 5280 §5.2.3).
package struct RevocationListRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    package struct Published: Sendable {
        package let number: Int64
        /// Its DER form.
        package let der: [UInt8]
        /// How many certificates it lists.
        package let entries: Int64
        package let thisUpdate: Date
        /// What ``CertificateRepository/revocations()`` said when it was made.
        package let revocations: Int64

        package init(number: Int64, der: [UInt8], entries: Int64, thisUpdate: Date, revocations: Int64) {
            self.number = number
            self.der = der
            self.entries = entries
            self.thisUpdate = thisUpdate
            self.revocations = revocations
        }
    }

    package func current() throws -> Published? {
        try transaction.first(
            "SELECT number, der, entries, this_update, revocations FROM revocation_lists ORDER BY number DESC LIMIT 1",
            []
        ).map {
            Published(
                number: try $0.integer(0), der: try $0.bytes(1), entries: try $0.integer(2), thisUpdate: try $0.time(3),
                revocations: try $0.integer(4))
        }
    }

    /// Of the list in force all but the list, which may have megabytes.
    package func heading() throws -> (number: Int64, thisUpdate: Date, revocations: Int64)? {
        try transaction.first(
            "SELECT number, this_update, revocations FROM revocation_lists ORDER BY number DESC LIMIT 1", []
        ).map { (try $0.integer(0), try $0.time(1), try $0.integer(2)) }
    }

    /// Puts a list in force that was made to follow another one; `false` where a third one follows that by now.
    package func publish(_ list: Published, nextUpdate: Date, after number: Int64) throws -> Bool {
        guard try (heading()?.number ?? 0) == number, list.number > number else { return false }
        try publish(list, nextUpdate: nextUpdate)
        return true
    }

    /// Puts a list in force and drops the ones before it.
    package func publish(_ list: Published, nextUpdate: Date) throws {
        try transaction.execute(
            """
            INSERT INTO revocation_lists (number, der, entries, this_update, next_update, revocations)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (number) DO NOTHING
            """,
            [
                .integer(list.number), .bytes(list.der), .integer(list.entries), .time(list.thisUpdate),
                .time(nextUpdate), .integer(list.revocations),
            ])
        try transaction.execute("DELETE FROM revocation_lists WHERE number < $1", [.integer(list.number)])
    }
}
