import Foundation

/// A session with its end.
package struct PastSession: Sendable {
    package let session: Session
    /// `nil` if it has not ended.
    package let endedAt: Date?
    /// Why it ended, in words.
    package let endReason: String?

    package init(session: Session, endedAt: Date?, endReason: String?) {
        self.session = session
        self.endedAt = endedAt
        self.endReason = endReason
    }
}

/// A device that a user signed in on, within the time for which sign-ins are recorded.
package struct UserDevice: Sendable, Equatable {
    package let id: DeviceID
    package let firstAt: Date
    package let lastAt: Date

    package init(id: DeviceID, firstAt: Date, lastAt: Date) {
        self.id = id
        self.firstAt = firstAt
        self.lastAt = lastAt
    }
}
