import Database
import Domain
import Repositories

/// The number of sessions that a bulk revocation ends, counted up to a limit.
package struct CountedSessions: Sendable, Equatable {
    /// The number of sessions, at most ``limit``.
    package private(set) var count: Int
    /// Whether there are more sessions than ``limit``.
    package private(set) var isMore: Bool

    init(behind scope: RevocationScope, in transaction: any Transaction) throws {
        // One more than the limit, to know whether that is all.
        self.init(found: try SessionRepository(transaction).countOpen(scope, limit: Self.limit + 1))
    }

    private init(found: Int, isMore: Bool = false) {
        count = min(Self.limit, found)
        self.isMore = isMore || found > Self.limit
    }

    static func + (left: Self, right: Self) -> Self {
        Self(found: left.count + right.count, isMore: left.isMore || right.isMore)
    }
}

package extension CountedSessions {
    /// The number at which counting stops.
    static let limit = 1000

    init() { self.init(found: 0) }
}
