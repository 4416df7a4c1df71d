/// A number of rows that a store counted up to a limit, so that an answer takes no longer with more rows.
package enum BoundedCount {}

package extension BoundedCount {
    /// The largest number that is shown. Counting stops at one more.
    static let most = 1000

    /// - Parameter found: the number of rows that were found, counted up to one more than ``most``.
    static func text(_ found: Int) -> String { found > most ? "more than \(most)" : "\(found)" }

    /// The number with its noun: `1 message`, `more than 1000 messages`.
    static func text(_ found: Int, _ noun: String) -> String {
        found > most ? "\(text(found)) \(noun)s" : found.counting(noun)
    }
}

package extension BinaryInteger {
    /// The number with its noun: `1 session`, `2 sessions`.
    func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
