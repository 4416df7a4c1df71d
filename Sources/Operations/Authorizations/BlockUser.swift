import Database
import Domain
import Foundation
import Repositories

package extension Service {
    /// Blocks another user of the provider and ends their authorizations. Permissions and the blocker's own requests
    /// are cancelled. Requests of the other user disappear for the blocker and stay for the requester. Later requests
    /// get the usual response and are never delivered.
    ///
    /// A user who does not exist is blocked like any other.
    ///
    /// - Throws: `Refusal` `malformed_request` for one's own id, `not_found` for an invalid user id or another
    ///   provider's user, `conflict` if the user blocks as many as the policy allows, `unavailable`.
    func blockUser(_ text: String, for session: Session) async throws {
        try await act(for: session, inTurn: .permissions) { transaction, _, events in
            guard let other = try find(text, session, in: transaction) else { return }
            try block(other.id, for: session, in: transaction, &events)
        }
    }

    /// Ends a block. Permissions that the block ended stay ended.
    ///
    /// - Throws: `Refusal` `not_found` for an invalid user id or another provider's user, `unavailable`.
    func unblockUser(_ text: String, for session: Session) async throws {
        try await act(for: session) { transaction, _, _ in
            guard let other = try find(text, session, in: transaction) else { return }
            try BlockRepository(transaction).delete(session.userID, blocks: other.id)
        }
    }

    /// Blocks the requester of an authorization, like ``blockUser(_:for:)``, for a recipient who does not know the
    /// requester's id. The id stays unknown: the export names the authorization.
    ///
    /// An erased requester is blocked like any other. A repetition also finds the request that the block has hidden.
    ///
    /// - Throws: `Refusal` `not_found` if this user is not the recipient, `conflict` if the user blocks as many as
    ///   policy allows, `unavailable`.
    func blockRequester(of text: String, for session: Session) async throws {
        try await act(for: session, inTurn: .permissions) { transaction, _, events in
            guard let id = AuthorizationID(text[...]), let found = try AuthorizationRepository(transaction).find(id),
                found.recipientID == session.userID
            else { throw Refusal.unknownAuthorization }
            guard let requester = found.requesterID else { return }
            try block(requester, namedBy: id, for: session, in: transaction, &events)
        }
    }

    /// Ends the block of the requester of an authorization. It is also found if the authorization was deleted since.
    ///
    /// - Throws: `Refusal` `not_found` for an invalid id, `unavailable`.
    func unblockRequester(of text: String, for session: Session) async throws {
        guard let id = AuthorizationID(text[...]) else { throw Refusal.unknownAuthorization }
        try await act(for: session) { transaction, _, _ in
            try BlockRepository(transaction).delete(session.userID, blocksRequesterOf: id)
        }
    }

    private func block(
        _ other: UserID, namedBy authorization: AuthorizationID? = nil, for session: Session,
        in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let limit = policy[\.authorizations].blocksPerUser
        let isBlocked = try BlockRepository(transaction).insert(
            session.userID, blocks: other, namedBy: authorization, at: transaction.now, limit: limit)
        guard isBlocked else { throw Refusal.blocksExhausted(limit) }
        try AuthorizationPair(self, in: transaction).withdraw(session.userID, from: other, &events)
        events.record(.presenceChanged(of: [session.userID, other]))
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
