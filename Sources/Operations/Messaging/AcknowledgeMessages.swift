import Database
import Domain
import Repositories

package extension Service {
    /// Raises the receipts of a user's device in a stream. Lower numbers change nothing. If messages wait for devices to
    /// have them, it is also recorded which the device has.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict`, `rate_limited`, `unavailable`.
    func acknowledgeMessages(
        delivered: Int64?, read: Int64?, in stream: String, for session: Session
    ) async throws -> (delivered: Int64, read: Int64) {
        let reported = max(delivered ?? 0, read ?? 0)
        return try await act(
            for: session, in: stream,
            ahead: MessageStreamAccess.lookAhead(stream, of: session) {
                _ = try StreamDeliveryRepository($1).isAwaited(in: $0, through: reported)
            }
        ) { transaction, holder, events in
            let access = MessageStreamAccess(self, holder.user, in: transaction)
            let found = try access.require(.acknowledge, stream)
            guard let member = found.member else { throw Refusal.unknownStream }
            let receipts = member.receipts(delivered: delivered, read: read, last: found.stream.lastSequence)
            let deliveries = StreamDeliveryRepository(transaction)
            if try deliveries.isAwaited(in: found.stream.id, through: reported) {
                try deliveries.report(
                    min(reported, found.stream.lastSequence), on: holder.session.deviceID, of: holder.user.id,
                    in: found.stream.id)
            }
            guard receipts != (member.deliveredThrough, member.readThrough) else { return receipts }
            let members = StreamMemberRepository(transaction)
            try members.setReceipts(receipts, of: holder.user.id, in: found.stream.id)
            try access.note(
                .updateStatus, found.stream.id, for: try members.present(in: found.stream.id), &events)
            return receipts
        }
    }

    /// Reports to members who wait for changes of a stream that the user is typing. More than one call a second has no
    /// effect.
    ///
    /// - Throws: `Refusal` `not_found`, `user_banned`, `not_verified`, `unavailable`. `conflict` for a closed stream,
    ///   and for a forum, which has no members.
    func sayTyping(in stream: String, for session: Session) async throws {
        guard node.typing.permits(session.userID) else {
            // A notice without effect opens no writing transaction.
            return try await read(for: session) { _ = try others(in: stream, for: $1, $0) }
        }
        try await act(for: session) { transaction, holder, events in
            let (id, others) = try others(in: stream, for: holder, transaction)
            guard !others.isEmpty else { return }
            events.record(.typing(in: id, by: holder.user.id, to: others))
        }
    }

    private func others(
        in stream: String, for holder: SessionHolder, _ transaction: any Transaction
    ) throws -> (MessageStreamID, [UserID]) {
        let found = try MessageStreamAccess(self, holder.user, in: transaction).require(.append, stream)
        guard found.member != nil else { throw Refusal.unsupported(by: found.stream.kind) }
        let members = try StreamMemberRepository(transaction).present(in: found.stream.id)
        return (found.stream.id, members.filter { $0 != holder.user.id })
    }
}
