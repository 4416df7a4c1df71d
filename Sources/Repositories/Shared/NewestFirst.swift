import Database
import Domain

/// A list of the newest rows, in pages. A cursor is the key of the last row of the previous page.
struct NewestFirst: Sendable {
    let table: String
    let key: String
    let time: String

    /// The condition and the order, for an index of time and key.
    ///
    /// - Parameter place: the number of the first of the two parameters that ``place(behind:in:)`` returns.
    func page(from place: Int) -> (condition: String, order: String) {
        ("(\(time), \(key)) < ($\(place), $\(place + 1))", "ORDER BY \(time) DESC, \(key) DESC")
    }

    /// The parameters for the start of the first page.
    static let start: [Value] = [.integer(.max), .text("")]

    /// The parameters for the start of a page.
    ///
    /// - Parameter cursor: `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the row was deleted.
    func place(behind cursor: String?, in transaction: any Transaction) throws -> [Value] {
        guard let cursor else { return Self.start }
        let at: Int64? = try transaction.value("SELECT \(time) FROM \(table) WHERE \(key) = $1", [.text(cursor)])
        guard let at else {
            throw Refusal.cursorGone(cursor)
        }
        return [.integer(at), .text(cursor)]
    }
}
