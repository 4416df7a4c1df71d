import Database
import Domain
import Repositories

/// The number of sessions that a bulk revocation ends, counted up to a limit.
package struct CountedSessions: Sendable, Equatable {
    package private(set) var count: Int

    init(behind scope: RevocationScope, in transaction: any Transaction) throws {
        count = try SessionRepository(transaction).countOpen(scope, limit: Self.limit)
    }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.count = min(limit, left.count + right.count)
        return sum
    }
}

package extension CountedSessions {
    /// The number at which counting stops.
    static let limit = 1000

    /// Whether there may be more sessions.
    var isLeast: Bool { count >= Self.limit }

    init() { count = 0 }
}
