import Database
import Domain

/// A list of the newest rows, a page at a time. The cursor of a page is the key of the last row on the page before.
struct NewestFirst: Sendable {
    let table: String
    let key: String
    let time: String

    /// The condition and the order, for an index of time and key.
    ///
    /// - Parameter place: the number of the first of the two parameters that ``place(behind:in:)`` gives.
    func page(from place: Int) -> (condition: String, order: String) {
        ("(\(time), \(key)) < ($\(place), $\(place + 1))", "ORDER BY \(time) DESC, \(key) DESC")
    }

    /// Where a page begins.
    ///
    /// - Parameter cursor: `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the row is gone.
    func place(behind cursor: String?, in transaction: any Transaction) throws -> [Value] {
        guard let cursor else { return [.integer(.max), .text("")] }
        let at: Int64? = try transaction.value("SELECT \(time) FROM \(table) WHERE \(key) = $1", [.text(cursor)])
        guard let at else {
            throw Refusal(.notFound, "\(cursor) is no longer in this list.", about: .cursor)
        }
        return [.integer(at), .text(cursor)]
    }
}
