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
