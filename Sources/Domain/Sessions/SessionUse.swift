import Foundation

/// A use of a session.
package struct SessionUse: Sendable, Equatable {
    package let id: SessionID
    package let at: Date

    package init(id: SessionID, at: Date) {
        self.id = id
        self.at = at
    }
}
