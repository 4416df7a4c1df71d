/// The number of rows as a page or a command tells it. A store counts no further than it must, so that the answer does not
/// take longer with more rows.
package enum ToldCount {
    /// The largest number that is told. Counting stops at one more.
    package static let most = 1000

    /// - Parameter found: the number of rows that were found, counted up to one more than ``most``.
    package static func text(_ found: Int) -> String { found > most ? "more than \(most)" : "\(found)" }
}
