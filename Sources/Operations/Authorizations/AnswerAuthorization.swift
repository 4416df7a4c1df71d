import Database
import Domain
import Foundation
import Repositories

package extension Service {
    /// Approves a request: both users may message each other from now on. Both must be verified at this moment. The
    /// caller's own request to the other user ends: it becomes cancelled.
    ///
    /// If the other user has approved the crossed request already, the permission that this gave is returned.
    ///
    /// - Throws: `Refusal` `not_found` if this user is not the recipient, `not_verified` for either side, `conflict`
    ///   with the state that forbids it, `gone` after its expiry, `unavailable`.
    func approveAuthorization(_ text: String, for session: Session) async throws -> AuthorizationView {
        try await move(text, session) { $0 == .incoming ? .approve : nil }
    }

    /// Declines a request, and withdraws the caller's own request to the other user. If the other user has approved
    /// that one already, the permission ends.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict`, `gone`, `unavailable`.
    func rejectAuthorization(_ text: String, for session: Session) async throws -> AuthorizationView {
        try await move(text, session) { $0 == .incoming ? .reject : nil }
    }

    /// Cancels a request by its requester, or a permission by either side. Cancelling a request that
    /// ended by the approval of the crossed request ends the permission.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict`, `gone`, `unavailable`.
    func cancelAuthorization(_ text: String, for session: Session) async throws -> AuthorizationView {
        try await move(text, session) { $0.cancellation }
    }

    private func move(
        _ text: String, _ session: Session,
        _ event: @escaping @Sendable (MessagingPermission.Box) -> MessagingPermission.State.Event?
    ) async throws -> AuthorizationView {
        try await act(for: session, inTurn: .permissions) { transaction, _, events -> AuthorizationView in
            let records = AuthorizationRepository(transaction)
            guard let id = AuthorizationID(text[...]), let found = try records.find(id),
                let box = found.box(of: session.userID), let event = event(box)
            else { throw Refusal.unknownAuthorization }
            let parties = AuthorizationParties(policy, in: transaction)
            let pair = AuthorizationPair(self, in: transaction)
            if let other = found.replacedBy {
                if let permission = try records.find(other), permission.state == .approval,
                    let box = permission.box(of: session.userID)
                {
                    switch event {
                    case .approve: return try AuthorizationView(permission, box, parties: parties, of: self)
                    // A user's "no" ends the permission, even if it comes second.
                    case .reject, .cancelByRequester, .cancelByRecipient:
                        try pair.move(permission, on: box.cancellation, &events)
                    case .request, .expire, .ban: break
                    }
                }
                // The row is cancelled already. A rejection and its repetition get it.
                if event == .reject { return try AuthorizationView(found, box, parties: parties, of: self) }
            }
            guard let moved = try found.after(event, now: transaction.now) else {
                return try AuthorizationView(found, box, parties: parties, of: self)
            }
            if event == .approve {
                try parties.requireCaller(session.userID)
                try parties.requirePartner(found.requesterID)
            }
            try pair.move(found, on: event, &events)
            return try AuthorizationView(moved, box, parties: parties, of: self)
        }
    }
}
