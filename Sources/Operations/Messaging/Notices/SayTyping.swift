import Domain
import Repositories

/// A user says that they are writing in a stream. Whoever waits for changes of that stream sees it, and nobody else.
package struct SayTyping: Sendable {
    private let context: ServiceContext
    private let store: SessionStore

    package init(_ context: ServiceContext) {
        self.context = context
        store = SessionStore(context)
    }

    /// Shows the other members that the user is writing. More than once a second it has no effect.
    ///
    /// - Throws: `Refusal` `not_found`, `user_banned`, `not_verified`, `unavailable`. `conflict` for a stream that is
    ///   closed, and for a forum, which has no members.
    package func callAsFunction(in stream: String, for session: Session) async throws {
        // Asked once, since a transaction may be begun anew.
        let isDue = context.node.typing.permits(session.userID)
        try await store.act(for: session) { transaction, holder, events in
            let access = MessageStreamAccess(context, holder.user, in: transaction)
            let found = try access.require(.append, stream)
            guard found.member != nil else { throw MessageStreamAccess.unsupported(found.stream.kind) }
            let (id, user) = (found.stream.id, holder.user.id)
            let others = try StreamMemberRepository(transaction).present(in: id).filter { $0 != user }
            guard isDue, !others.isEmpty else { return }
            events.record(.typing(in: id, by: user, to: others))
        }
    }
}
