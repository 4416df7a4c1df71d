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

    private static let columns = Selection(RevocationListColumns.self)
    private static let heading = ColumnTuple(
        columns.each.number, columns.each.thisUpdate, columns.each.revocations)

    package func current() throws -> Published? {
        try transaction.first("SELECT \(Self.columns) FROM revocation_lists ORDER BY number DESC LIMIT 1")
            .map(Self.columns.each.list)
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
            """
            INSERT INTO revocation_lists (\(Self.columns.all)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (number) DO NOTHING
            """, Self.columns.row { $0.write(list, to: &$1) })
        try transaction.execute("DELETE FROM revocation_lists WHERE number < $1", [.integer(list.number)])
    }
}

/// The columns of `revocation_lists`.
private struct RevocationListColumns: ColumnSet {
    let number: Column<Int64>
    let der: Column<[UInt8]>
    let entries: Column<Int64>
    let thisUpdate: Column<Date>
    let revocations: Column<Int64>

    init(_ list: inout ColumnList) {
        number = list.add("number")
        der = list.add("der")
        entries = list.add("entries")
        thisUpdate = list.add("this_update")
        revocations = list.add("revocations")
    }

    func list(_ row: Row) throws -> RevocationListRepository.Published {
        .init(
            number: try row[number], der: try row[der], entries: try row[entries], thisUpdate: try row[thisUpdate],
            revocations: try row[revocations])
    }

    func write(_ list: RevocationListRepository.Published, to row: inout NewRow) {
        row.set(number, list.number)
        row.set(der, list.der)
        row.set(entries, list.entries)
        row.set(thisUpdate, list.thisUpdate)
        row.set(revocations, list.revocations)
    }
}
