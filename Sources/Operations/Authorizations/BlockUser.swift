import Database
import Domain
import Foundation
import Repositories

extension Service {
    /// Blocks another user of the provider and ends their authorizations. Permissions and the blocker's own requests
    /// are cancelled. Requests of the other user disappear for the blocker and stay for the requester. Later requests
    /// get the usual response and are never delivered.
    ///
    /// A user who does not exist is blocked like any other.
    ///
    /// - Throws: `Refusal` `malformed_request` for one's own id, `not_found` for an invalid user id or another
    ///   provider's user, `conflict` if the user blocks as many as the policy allows, `unavailable`.
    package func blockUser(_ text: String, for session: Session) async throws {
        let limit = policy[\.authorizations].blocksPerUser
        try await act(for: session) { transaction, _, _ in
            guard let other = try find(text, session, in: transaction) else { return }
            let now = transaction.now
            let (me, records, blocks) = (
                session.userID, AuthorizationRepository(transaction), BlockRepository(transaction)
            )
            guard try blocks.insert(me, blocks: other.id, at: now, limit: limit) else {
                throw Refusal.blocksExhausted(limit)
            }
            try records.hideRequests(askedBy: other.id, from: me)
            for (authorizations, event) in [
                (try records.permissions(askedBy: me, of: other.id), MessagingPermissionState.Event.cancelByRequester),
                (try records.requests(askedBy: me, of: other.id), .cancelByRequester),
                (try records.permissions(askedBy: other.id, of: me), .cancelByRecipient),
            ] {
                for authorization in authorizations where authorization.state(now: now).isOpen {
                    guard let moved = try authorization.after(event, now: now) else { continue }
                    _ = try records.move(moved, from: authorization.state)
                }
            }
        }
    }

    /// Ends a block. Permissions that the block ended stay ended.
    ///
    /// - Throws: `Refusal` `not_found` for an invalid user id or another provider's user, `unavailable`.
    package func unblockUser(_ text: String, for session: Session) async throws {
        try await act(for: session) { transaction, _, _ in
            guard let other = try find(text, session, in: transaction) else { return }
            try BlockRepository(transaction).delete(session.userID, blocks: other.id)
        }
    }

    private func find(_ text: String, _ session: Session, in transaction: any Transaction) throws -> User? {
        guard let id = UserID(text[...]) else { throw Refusal.noUserInPath }
        guard id != session.userID else { throw Refusal.ownBlock }
        guard let user = try UserRepository(transaction).find(id) else { return nil }
        guard user.providerID == session.providerID else {
            throw Refusal.unknownUser
        }
        return user
    }
}
