import Database
import Domain
import Repositories

/// The number of sessions that a bulk revocation ends, counted up to a limit.
package struct CountedSessions: Sendable, Equatable {
    package private(set) var count: Int

    /// The number at which counting stops.
    package static let limit = 1000

    /// Whether there may be more sessions.
    package var isLeast: Bool { count >= Self.limit }

    init(behind scope: RevocationScope, in transaction: any Transaction) throws {
        count = try SessionRepository(transaction).countOpen(scope, limit: Self.limit)
    }

    package init() { count = 0 }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.count = min(limit, left.count + right.count)
        return sum
    }
}
