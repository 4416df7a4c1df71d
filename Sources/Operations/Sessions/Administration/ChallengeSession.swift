import Database
import Domain
import Repositories

/// An admin challenges a session: its user must prove who they are again.
package struct ChallengeSession: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Challenges.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` with the state that forbids it.
    package func callAsFunction(_ id: SessionID, reason: AuditReason? = nil) async throws {
        let actor = context.actor
        try await context.commit { transaction, events in
            let records = SessionRepository(transaction)
            guard let session = try records.find(id) else { throw ReadSession.unknown(id) }
            guard session.state.after(.challenge, while: .disconnected, by: .service) != nil,
                try records.challenge(.session(id), at: transaction.now) > 0
            else {
                throw Refusal(.conflict, "The session is \(session.state.rawValue).", state: session.state.rawValue)
            }
            events.record(.sessionChallenged(session), by: actor, because: reason)
        }
    }
}
