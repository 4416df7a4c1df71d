import Encoding
import Foundation

/// A week of contact discovery: each provider has a key of its own in each, so that what was computed in one is of no use in
/// another. Weeks are counted from 1970-01-01T00:00:00Z.
package struct DiscoveryWeek: Sendable, Hashable {
    package let number: Int64

    private static let length: TimeInterval = 7 * 86_400
    /// How long before its beginning a week's set is made, and how long behind its end it is still answered.
    package static let margin: TimeInterval = 86_400

    package init(_ number: Int64) {
        self.number = number
    }

    /// The week that a moment lies in.
    package init(at time: Date) {
        number = Int64(saturating: (time.timeIntervalSince1970 / Self.length).rounded(.down))
    }

    package var start: Date { Date(timeIntervalSince1970: Double(number) * Self.length) }
    package var end: Date { start.addingTimeInterval(Self.length) }

    /// Whether it is answered at a moment: from its beginning to a day behind its end.
    package func isAnswered(at now: Date) -> Bool { start <= now && now < end.addingTimeInterval(Self.margin) }

    /// The newest week whose set is to be there at a moment.
    package static func newest(at now: Date) -> DiscoveryWeek { DiscoveryWeek(at: now.addingTimeInterval(margin)) }

    /// The oldest week that is answered at a moment.
    package static func oldest(at now: Date) -> DiscoveryWeek { DiscoveryWeek(at: now.addingTimeInterval(-margin)) }
}
