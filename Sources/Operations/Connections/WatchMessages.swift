import Domain

/// One user that is watched, until ``end()``.
package struct MessageWatch: Sendable {
    fileprivate let polls: WaitingPolls<UserID, UserID>
    fileprivate let place: WaitingPolls<UserID, UserID>.Place

    /// One for each time that something may have changed, or for several of them; it ends with the watch.
    package var changes: AsyncStream<Void> { place.changes }

    package func end() { polls.leave(place) }
}

extension Service {
    /// Says on a user's connection that there may be something to synchronize. It asks no store, and holds no task
    /// while nothing happens: what has changed is for ``synchronizeMessages(since:wait:for:)`` to say.
    package func watchMessages(of user: UserID) -> MessageWatch {
        let polls = node.messagePolls
        return MessageWatch(polls: polls, place: polls.enter(user))
    }
}
