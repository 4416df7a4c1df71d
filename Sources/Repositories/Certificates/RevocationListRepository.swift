import Database
import Encoding
import Foundation

/// The current certificate revocation list of each authority, numbered (RFC 5280 §5.2.3).
package struct RevocationListRepository {
    private let transaction: any Transaction
}

package extension RevocationListRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    struct Published: Sendable {
        /// The digest of the key of the authority that signed it.
        package let authority: Digest256
        package let number: Int64
        package let der: [UInt8]
        /// The number of listed certificates.
        package let entries: Int64
        package let thisUpdate: Date
        /// ``CertificateRepository/revocations()`` at the time it was made.
        let revocations: Int64

        package init(
            authority: Digest256, number: Int64, der: [UInt8], entries: Int64, thisUpdate: Date, revocations: Int64
        ) {
            self.authority = authority
            self.number = number
            self.der = der
            self.entries = entries
            self.thisUpdate = thisUpdate
            self.revocations = revocations
        }
    }

    private static let columns = Table<Published>(
        "revocation_lists", Published.init,
        Field("authority", \.authority),
        Field("number", \.number),
        Field("der", \.der),
        Field("entries", \.entries),
        Field("this_update", \.thisUpdate),
        Field("revocations", \.revocations))
    private static let heading = ColumnTuple(
        Column<Int64>("number"), Column<Date>("this_update"), Column<Int64>("revocations"))

    /// The current list of an authority.
    func current(of authority: Digest256) throws -> Published? {
        try transaction.first(Self.columns, "WHERE authority = $1 ORDER BY number DESC LIMIT 1", [authority.value])
    }

    /// The current list of each authority that has signed one.
    func all() throws -> [Published] {
        try transaction.query(Self.columns, "ORDER BY authority, number", [])
    }

    /// The current list of an authority without its DER form, which may have megabytes.
    func heading(of authority: Digest256) throws -> (number: Int64, thisUpdate: Date, revocations: Int64)? {
        try transaction.first(
            "SELECT \(Self.heading) FROM revocation_lists WHERE authority = $1 ORDER BY number DESC LIMIT 1",
            [authority.value]
        ).map(Self.heading.read)
    }

    /// Publishes a list as the successor of another one; `false` if that already has a successor.
    func publish(_ list: Published, after number: Int64) throws -> Bool {
        guard try (heading(of: list.authority)?.number ?? 0) == number, list.number > number else { return false }
        try publish(list)
        return true
    }

    /// Publishes a list and deletes the authority's earlier ones.
    func publish(_ list: Published) throws {
        try transaction.execute(
            "\(Self.columns.insertion) ON CONFLICT (authority, number) DO NOTHING", Self.columns.row(list))
        try transaction.execute(
            "DELETE FROM revocation_lists WHERE authority = $1 AND number < $2",
            [list.authority.value, .integer(list.number)])
    }
}
