import Database
import Domain
import Foundation
import Repositories

extension Service {
    /// Approves a request: both users may message each other from now on. Both must be verified at this moment.
    ///
    /// - Throws: `Refusal` `not_found` if this user is not the recipient, `not_verified` for either side, `conflict`
    ///   with the state that forbids it, `gone` after its expiry, `unavailable`.
    package func approveAuthorization(_ text: String, for session: Session) async throws -> AuthorizationView {
        try await move(text, session) { $0 == .incoming ? .approve : nil }
    }

    /// - Throws: `Refusal` `not_found`, `conflict`, `gone`, `unavailable`.
    package func rejectAuthorization(_ text: String, for session: Session) async throws -> AuthorizationView {
        try await move(text, session) { $0 == .incoming ? .reject : nil }
    }

    /// Cancels a request by its requester, or a permission by either side.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict`, `gone`, `unavailable`.
    package func cancelAuthorization(_ text: String, for session: Session) async throws -> AuthorizationView {
        try await move(text, session) { $0 == .incoming ? .cancelByRecipient : .cancelByRequester }
    }

    private func move(
        _ text: String, _ session: Session,
        _ event: @escaping @Sendable (AuthorizationBox) -> MessagingPermissionState.Event?
    ) async throws -> AuthorizationView {
        let keys = keys.personal
        return try await act(for: session, inTurn: .permissions) { transaction, _, events -> AuthorizationView in
            let records = AuthorizationRepository(transaction)
            guard let id = AuthorizationID(text[...]), let found = try records.find(id),
                let box = found.box(of: session.userID), let event = event(box)
            else { throw Refusal.unknownAuthorization }
            let parties = AuthorizationParties(policy, in: transaction)
            guard let moved = try found.after(event, now: transaction.now) else {
                return try AuthorizationView(found, box, parties: parties, keys: keys)
            }
            if event == .approve {
                try parties.requireCaller(session.userID)
                try parties.requirePartner(found.requesterID)
            }
            guard try records.move(moved, from: found.state) else {
                let state = try records.find(id)?.state(now: transaction.now)
                throw Refusal.authorizationChanged(state: (state ?? .cancelled).rawValue)
            }
            try authorizationPushes.queue(AuthorizationRow(of: moved), of: moved, in: transaction, &events)
            return try AuthorizationView(moved, box, parties: parties, keys: keys)
        }
    }
}
