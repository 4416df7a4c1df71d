import Domain

package extension Service.MessageWatch {
    /// An element for one or several possible changes. It finishes with the watch.
    var changes: AsyncStream<Void> { place.changes }

    func end() {
        polls.leave(place)
        online.leave(user)
    }
}

package extension Service {
    /// A watch for changes of one user, until ``end()``.
    struct MessageWatch: Sendable {
        fileprivate let user: UserID
        fileprivate let polls: MessagePolls
        fileprivate let place: MessagePolls.Place
        fileprivate let online: OnlineUsers
    }

    /// Notifies a user's connection of possible changes to synchronize. It does not read the store, and no task waits
    /// while nothing happens. ``synchronizeMessages(since:wait:presenceOf:for:)`` returns the changes. The user is online
    /// until the watch ends.
    func watchMessages(of user: UserID) -> MessageWatch {
        let (polls, online) = (node.messagePolls, node.online)
        online.enter(user)
        return MessageWatch(user: user, polls: polls, place: polls.enter([.gate(.user(user))]), online: online)
    }
}
