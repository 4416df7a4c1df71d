/// A number of rows that a store counted up to a limit, so that an answer takes no longer with more rows.
package enum BoundedCount {
    /// The largest number that is shown. Counting stops at one more.
    package static let most = 1000

    /// - Parameter found: the number of rows that were found, counted up to one more than ``most``.
    package static func text(_ found: Int) -> String { found > most ? "more than \(most)" : "\(found)" }
}
