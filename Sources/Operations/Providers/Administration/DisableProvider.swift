import Database
import Domain
import Repositories

/// An admin disables a provider: its tokens, keys and sessions are valid no more.
package struct DisableProvider: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Disables.
    ///
    /// - Returns: how many sessions ended.
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String, reason: AuditReason? = nil) async throws -> Int {
        let actor = context.actor
        return try await context.commit { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            try ProviderRepository(transaction).setDisabled(provider, at: transaction.now)
            let ended = try SessionRepository(transaction).end(
                .provider(provider), at: transaction.now, .providerDisabled)
            events.record(.sessionsEnded(ended, of: .provider(provider), .providerDisabled))
            events.record(.providerDisabled(provider, sessionsEnded: ended.count), by: actor, because: reason)
            return ended.count
        }
    }
}
