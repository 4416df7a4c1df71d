import Encoding
import Foundation

/// Whether a user is online, as another user sees it.
package struct UserPresence: Sendable, Equatable {
    package let user: UserID
    package let isOnline: Bool
    /// When the user was last online, to the minute; `nil` while the user is online, and if it is not known.
    package let lastSeen: Date?

    package init(of user: UserID, isOnline: Bool = false, lastSeen: Date? = nil) {
        (self.user, self.isOnline, self.lastSeen) = (user, isOnline, lastSeen?.wholeMinute)
    }
}

package extension Date {
    /// The beginning of its minute. No more of a time when a user was online is stored or shown.
    var wholeMinute: Date { Date(milliseconds: milliseconds - milliseconds % 60_000) }
}

/// Whether other users see a user's presence. The raw values are the contract's.
package enum PresenceVisibility: String, Sendable, CaseIterable {
    /// Users who may write to the user.
    case visible
    /// Nobody. The user does not see the presence of others either.
    case hidden
}

/// The facts by which a user may see the presence of another user.
package struct PresenceRule: Sendable, Equatable {
    /// Whether the two have an approved authorization, and both the level that it requires.
    let isPermitted: Bool
    /// Whether both are members of a conversation.
    let shareConversation: Bool
    /// Whether one of the two blocks the other.
    let isBlocked: Bool
    /// Whether a ban forbids messaging to one of the two.
    let isBanned: Bool
    /// Whether one of the two has hidden the presence.
    let isHidden: Bool

    package init(isPermitted: Bool, shareConversation: Bool, isBlocked: Bool, isBanned: Bool, isHidden: Bool) {
        (self.isPermitted, self.shareConversation) = (isPermitted, shareConversation)
        (self.isBlocked, self.isBanned, self.isHidden) = (isBlocked, isBanned, isHidden)
    }

    package var maySee: Bool { (isPermitted || shareConversation) && !isBlocked && !isBanned && !isHidden }
}
