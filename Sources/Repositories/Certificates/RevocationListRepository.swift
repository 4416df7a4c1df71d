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

    private static let columns = Table<Published>(
        "revocation_lists", Published.init,
        Field("number", \.number),
        Field("der", \.der),
        Field("entries", \.entries),
        Field("this_update", \.thisUpdate),
        Field("revocations", \.revocations))
    private static let heading = ColumnTuple(
        Column<Int64>("number"), Column<Date>("this_update"), Column<Int64>("revocations"))

    package func current() throws -> Published? {
        try transaction.first(Self.columns, "ORDER BY number DESC LIMIT 1")
    }

    /// Of the list in force all but the list, which may have megabytes.
    package func heading() throws -> (number: Int64, thisUpdate: Date, revocations: Int64)? {
        try transaction.first("SELECT \(Self.heading) FROM revocation_lists ORDER BY number DESC LIMIT 1")
            .map(Self.heading.read)
    }

    /// Puts a list in force that was made to follow another one; `false` if a third one follows that by now.
    package func publish(_ list: Published, after number: Int64) throws -> Bool {
        guard try (heading()?.number ?? 0) == number, list.number > number else { return false }
        try publish(list)
        return true
    }

    /// Puts a list in force and drops the ones before it.
    package func publish(_ list: Published) throws {
        try transaction.execute(
            "\(Self.columns.insertion) ON CONFLICT (number) DO NOTHING", Self.columns.row(list))
        try transaction.execute("DELETE FROM revocation_lists WHERE number < $1", [.integer(list.number)])
    }
}
