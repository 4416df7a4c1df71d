import Foundation

/// A user's level as it is stored, and the moment from which it counts for less.
package struct AssuranceLevel: Sendable, Equatable {
    private let stored: Assurance
    /// When a level above ``Assurance/phone`` lapses, because its card expires; `nil` for one that does not.
    private let until: Date?

    package init(_ stored: Assurance, until: Date?) {
        self.stored = stored
        self.until = until
    }

    /// The level at a moment.
    package func value(at moment: Date) -> Assurance {
        until.map { $0 <= moment } ?? false ? min(stored, .phone) : stored
    }
}
