import Database
import Foundation

/// The current certificate revocation list, numbered (RFC 5280 §5.2.3).
package struct RevocationListRepository {
    private let transaction: any Transaction
}

package extension RevocationListRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    struct Published: Sendable {
        package let number: Int64
        package let der: [UInt8]
        /// The number of listed certificates.
        package let entries: Int64
        package let thisUpdate: Date
        /// ``CertificateRepository/revocations()`` at the time it was made.
        let revocations: Int64

        package init(number: Int64, der: [UInt8], entries: Int64, thisUpdate: Date, revocations: Int64) {
            self.number = number
            self.der = der
            self.entries = entries
            self.thisUpdate = thisUpdate
            self.revocations = revocations
        }
    }

    private static let columns = Table<Published>(
        "revocation_lists", Published.init,
        Field("number", \.number),
        Field("der", \.der),
        Field("entries", \.entries),
        Field("this_update", \.thisUpdate),
        Field("revocations", \.revocations))
    private static let heading = ColumnTuple(
        Column<Int64>("number"), Column<Date>("this_update"), Column<Int64>("revocations"))

    func current() throws -> Published? {
        try transaction.first(Self.columns, "ORDER BY number DESC LIMIT 1")
    }

    /// The current list without its DER form, which may have megabytes.
    func heading() throws -> (number: Int64, thisUpdate: Date, revocations: Int64)? {
        try transaction.first("SELECT \(Self.heading) FROM revocation_lists ORDER BY number DESC LIMIT 1")
            .map(Self.heading.read)
    }

    /// Publishes a list as the successor of another one; `false` if that already has a successor.
    func publish(_ list: Published, after number: Int64) throws -> Bool {
        guard try (heading()?.number ?? 0) == number, list.number > number else { return false }
        try publish(list)
        return true
    }

    /// Publishes a list and deletes earlier ones.
    func publish(_ list: Published) throws {
        try transaction.execute(
            "\(Self.columns.insertion) ON CONFLICT (number) DO NOTHING", Self.columns.row(list))
        try transaction.execute("DELETE FROM revocation_lists WHERE number < $1", [.integer(list.number)])
    }
}
