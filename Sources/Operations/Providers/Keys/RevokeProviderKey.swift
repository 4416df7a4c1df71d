import Database
import Domain
import Repositories

/// An admin revokes a provider's key.
package struct RevokeProviderKey: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Revokes a key and, unless they are to stay, the keys that it added; ends the sessions that they opened where asked.
    ///
    /// - Throws: `Refusal` `not_found`.
    @discardableResult
    package func callAsFunction(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false, reason: AuditReason? = nil
    ) async throws -> ProviderKeyRevocation {
        let actor = context.actor
        let count =
            try await !endingSessions
            ? CountedSessions()
            : context.store.snapshot {
                try ProviderKeyChanges(actor: actor, requester: nil, transaction: $0)
                    .countSessions(id, keepingAdded: keepingAdded)
            }
        var done = try await context.commit { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction)
                .revoke(
                    id, endingSessions: endingSessions, keepingAdded: keepingAdded, reason: reason, &events)
        }
        done.sessionsEnded = count
        return done
    }
}
