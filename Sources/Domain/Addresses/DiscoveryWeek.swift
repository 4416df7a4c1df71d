import Encoding
import Foundation

/// A week of contact discovery. Each provider has a separate key for each week, so outputs of one week are of no use in
/// another. Weeks are counted from 1970-01-01T00:00:00Z.
package struct DiscoveryWeek: Sendable, Hashable {
    package let number: Int64

    private static let length: TimeInterval = 7 * 86_400
    /// How long before a week its set is created, and how long after it the set is still served, in seconds.
    package static let margin: TimeInterval = 86_400

    package init(_ number: Int64) {
        self.number = number
    }

    /// The week that contains a point in time.
    package init(at time: Date) {
        number = Int64(saturating: (time.timeIntervalSince1970 / Self.length).rounded(.down))
    }

    package var start: Date { Date(timeIntervalSince1970: Double(number) * Self.length) }
    package var end: Date { start.addingTimeInterval(Self.length) }

    /// The latest week whose set must exist at `now`.
    package static func newest(at now: Date) -> DiscoveryWeek { DiscoveryWeek(at: now.addingTimeInterval(margin)) }

    /// The earliest week whose set is served at `now`.
    package static func oldest(at now: Date) -> DiscoveryWeek { DiscoveryWeek(at: now.addingTimeInterval(-margin)) }
}
