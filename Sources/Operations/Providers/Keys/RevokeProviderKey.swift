import Database
import Domain
import Repositories

/// An admin revokes a provider's key.
package struct RevokeProviderKey: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// What a revocation would come to. Nothing is changed.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func preview(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false
    ) async throws -> ProviderKeyRevocation {
        let actor = context.actor
        // Not in the transaction of the change: each sign-in of the provider would disturb it.
        return try await context.read {
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: $0)
                .preview(id, endingSessions: endingSessions, keepingAdded: keepingAdded)
        }
    }

    /// Revokes a key and, unless they are to stay, the keys that it added; ends the sessions that they opened where asked.
    ///
    /// - Throws: `Refusal` `not_found`.
    @discardableResult
    package func callAsFunction(
        _ id: ProviderKeyID, endingSessions: Bool, keepingAdded: Bool = false, reason: AuditReason? = nil
    ) async throws -> ProviderKeyRevocation {
        let actor = context.actor
        let count = try await preview(id, endingSessions: endingSessions, keepingAdded: keepingAdded).sessionsEnded
        var done = try await context.write { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction)
                .revoke(
                    id, endingSessions: endingSessions, keepingAdded: keepingAdded, reason: reason, &events)
        }
        done.sessionsEnded = count
        return done
    }
}
