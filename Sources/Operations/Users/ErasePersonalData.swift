import Database
import Domain
import Foundation
import Repositories

package extension Service {
    /// Erases a session's user; the receipt in the response is the audit entry's id.
    ///
    /// - Throws: `Refusal` `session_challenged` if the session is older than ten minutes.
    func erasePersonalData(for session: Session) async throws -> UUID {
        try requireFresh(session)
        let (receipt, keys) = (environment.newUUID(), keys.personal)
        try await act(for: session) { transaction, holder, events in
            try Self.erase(holder.user.id, receipt, keys, in: transaction, &events)
        }
        return receipt
    }

    /// Erases a user whose export token was sent on a connection.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    func erasePersonalData(of user: UserID, on connection: ClientConnection) async throws -> UUID {
        let (receipt, keys) = (environment.newUUID(), keys.personal)
        try await act(on: connection) { transaction, events in
            try Self.erase(user, receipt, keys, in: transaction, &events)
        }
        return receipt
    }

    private static func erase(
        _ user: UserID, _ receipt: UUID, _ keys: PersonalKeys, in transaction: any Transaction,
        _ events: inout RecordedEvents
    ) throws {
        try EraseUser(keys: keys, actor: "user \(user)", reason: "user_request")(
            user, receipt: receipt, in: transaction, &events)
    }

    /// The user of an export token that was sent by a banned user's device.
    ///
    /// - Throws: `Refusal` `session_required` or `session_expired`.
    func admitExportToken(_ exportToken: String, on connection: ClientConnection) throws(Refusal) -> UserID {
        try RefuseBanned(key: keys.exports).holder(
            of: exportToken, thumbprint: connection.thumbprint, now: environment.now())
    }
}

extension Service {
    /// Requires a session that was opened or renewed in the last ten minutes, for actions that cannot be undone or that
    /// return all data.
    ///
    /// - Throws: `Refusal` `session_challenged` if the session is older than ten minutes.
    func requireFresh(_ session: Session) throws(Refusal) {
        guard environment.now().timeIntervalSince(session.renewedAt) <= 600 else {
            throw Refusal.sessionTooOld
        }
    }
}
