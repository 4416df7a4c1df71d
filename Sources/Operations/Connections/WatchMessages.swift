import Domain

/// Says on a user's connection that there may be something to synchronize. It asks no store, and holds no task while
/// nothing happens: what has changed is for ``SynchronizeMessages`` to say.
package struct WatchMessages: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) { self.context = context }

    /// One user that is watched, until ``end()``.
    package struct Watch: Sendable {
        fileprivate let polls: WaitingPolls<UserID, UserID>
        fileprivate let place: WaitingPolls<UserID, UserID>.Place

        /// One for each time that something may have changed, or for several of them; it ends with the watch.
        package var changes: AsyncStream<Void> { place.changes }

        package func end() { polls.leave(place) }
    }

    package func callAsFunction(_ user: UserID) -> Watch {
        let polls = context.node.messagePolls
        return Watch(polls: polls, place: polls.enter(user))
    }
}
