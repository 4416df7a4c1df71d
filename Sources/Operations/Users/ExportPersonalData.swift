import Database
import Domain
import Repositories

/// A user reads all of their stored data.
package struct ExportPersonalData: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// All stored data of a session's user.
    ///
    /// - Throws: `Refusal` `session_challenged` if the session is older than ten minutes.
    package func callAsFunction(for session: Session) async throws -> PersonalExport {
        try context.requireFresh(session)
        let keys = context.keys.personal
        return try await SessionStore(context).act(for: session) { transaction, holder, events in
            try Self.export(of: holder.user.id, keys, in: transaction, &events)
        }
    }

    /// All stored data of a user whose export token was sent on a connection.
    ///
    /// - Throws: `Refusal` `certificate_revoked`.
    package func callAsFunction(of user: UserID, on connection: ClientConnection) async throws -> PersonalExport {
        let keys = context.keys.personal
        return try await SessionStore(context).act(on: connection) { transaction, events in
            try Self.export(of: user, keys, in: transaction, &events)
        }
    }

    private static func export(
        of user: UserID, _ keys: PersonalKeys, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws -> PersonalExport {
        events.record(
            .personalDataRead(subject: "user \(user)", detail: "export"), by: "user \(user)", because: "user_request")
        let summary = try UserSummary.find(user.description, in: transaction)
        return try PersonalExport.collect(summary.user, address: summary.address, keys: keys, in: transaction)
    }
}
