import Database
import Domain
import Repositories

/// How many sessions a cut ends, as far as it is worth counting.
package struct CountedSessions: Sendable, Equatable {
    package private(set) var count: Int

    /// No further is counted than so many.
    package static let limit = 1000

    /// Whether there may be more.
    package var isLeast: Bool { count >= Self.limit }

    init(behind scope: RevocationScope, in transaction: any Transaction) throws {
        count = try SessionRepository(transaction).countOpen(scope, limit: Self.limit)
    }

    /// None.
    package init() { count = 0 }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.count = min(limit, left.count + right.count)
        return sum
    }
}
