import Encoding
import Foundation

/// A week of contact discovery. Each provider has a separate key for each week, so outputs of one week are of no use in
/// another. Weeks are counted from 1970-01-01T00:00:00Z.
package struct DiscoveryWeek: Sendable, Hashable {
    package let number: Int64

    private static let length: TimeInterval = 7 * 86_400
}

package extension DiscoveryWeek {
    /// How long before a week its set is created, and how long after it the set is still served, in seconds.
    static let margin: TimeInterval = 86_400

    init(_ number: Int64) {
        self.number = number
    }

    /// The week that contains a point in time.
    init(at time: Date) {
        number = Int64(saturating: (time.timeIntervalSince1970 / Self.length).rounded(.down))
    }

    var start: Date { Date(timeIntervalSince1970: Double(number) * Self.length) }
    var end: Date { start.addingTimeInterval(Self.length) }

    /// The latest week whose set must exist at `now`.
    static func newest(at now: Date) -> DiscoveryWeek { DiscoveryWeek(at: now.addingTimeInterval(margin)) }

    /// The earliest week whose set is served at `now`.
    static func oldest(at now: Date) -> DiscoveryWeek { DiscoveryWeek(at: now.addingTimeInterval(-margin)) }
}
