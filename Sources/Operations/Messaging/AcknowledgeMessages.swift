import Database
import Domain
import Repositories

/// A user's device reports how far it has come in a stream.
package struct AcknowledgeMessages: Sendable {
    private let context: ServiceContext
    private let store: SessionStore

    package init(_ context: ServiceContext) {
        self.context = context
        store = SessionStore(context)
    }

    /// Raises the receipts; lower numbers change nothing.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict`, `rate_limited`, `unavailable`.
    package func callAsFunction(
        delivered: Int64?, read: Int64?, in stream: String, for session: Session
    ) async throws -> (delivered: Int64, read: Int64) {
        try await store.write(
            for: session, in: stream, by: context, ahead: MessageStreamAccess.lookAhead(stream, of: session)
        ) { transaction, holder, events in
            let access = MessageStreamAccess(context, holder.user, in: transaction)
            let found = try access.require(.acknowledge, stream)
            guard let member = found.member else { throw MessageStreamAccess.unknown }
            let receipts = member.receipts(delivered: delivered, read: read, last: found.stream.lastSequence)
            guard receipts != (member.deliveredThrough, member.readThrough) else { return receipts }
            let members = StreamMemberRepository(transaction)
            try members.setReceipts(receipts, of: holder.user.id, in: found.stream.id)
            try access.note(
                .updateStatus, found.stream.id, for: try members.present(in: found.stream.id), &events)
            return receipts
        }
    }
}
