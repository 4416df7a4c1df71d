import Database
import Domain
import Repositories

/// An admin ends a session.
package struct TerminateSession: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Ends it.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` with the state that forbids it.
    package func callAsFunction(_ id: SessionID, reason: AuditReason? = nil) async throws {
        let actor = context.actor
        try await context.commit { transaction, events in
            let records = SessionRepository(transaction)
            guard let session = try records.find(id) else { throw ReadSession.unknown(id) }
            guard session.state.after(.destroy, while: .disconnected, by: .service) != nil,
                let ended = try records.end(.session(id), at: transaction.now, .byAdmin).first
            else {
                throw Refusal(.conflict, "The session is \(session.state.rawValue).", state: session.state.rawValue)
            }
            events.record(.sessionEnded(ended, .byAdmin), by: actor, because: reason)
        }
    }
}
