import Database
import Domain
import Foundation
import Repositories

/// A user erases all of their stored data.
package struct ErasePersonalData: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// Erases a session's user; the receipt in the response is the audit entry's id.
    ///
    /// - Throws: `Refusal` `session_challenged` if the session is older than ten minutes.
    package func callAsFunction(for session: Session) async throws -> UUID {
        try context.requireFresh(session)
        let (receipt, keys) = (context.environment.newUUID(), context.keys.personal)
        try await SessionStore(context).act(for: session) { transaction, holder, events in
            try Self.erase(holder.user.id, receipt, keys, in: transaction, &events)
        }
        return receipt
    }

    /// Erases a user whose export token was sent on a connection.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    package func callAsFunction(_ user: UserID, on connection: ClientConnection) async throws -> UUID {
        let (receipt, keys) = (context.environment.newUUID(), context.keys.personal)
        try await SessionStore(context).act(on: connection) { transaction, events in
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
}
