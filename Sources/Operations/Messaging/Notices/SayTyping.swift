import Database
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
        guard context.node.typing.permits(session.userID) else {
            // A notice without effect opens no writing transaction.
            return try await store.snapshot(for: session) { _ = try others(in: stream, for: $1, $0) }
        }
        try await store.act(for: session) { transaction, holder, events in
            let (id, others) = try others(in: stream, for: holder, transaction)
            guard !others.isEmpty else { return }
            events.record(.typing(in: id, by: holder.user.id, to: others))
        }
    }

    private func others(
        in stream: String, for holder: SessionHolder, _ transaction: any Transaction
    ) throws -> (MessageStreamID, [UserID]) {
        let found = try MessageStreamAccess(context, holder.user, in: transaction).require(.append, stream)
        guard found.member != nil else { throw MessageStreamAccess.unsupported(found.stream.kind) }
        let members = try StreamMemberRepository(transaction).present(in: found.stream.id)
        return (found.stream.id, members.filter { $0 != holder.user.id })
    }
}
