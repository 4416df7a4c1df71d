import Database
import Domain
import Repositories

/// An admin disables a provider: its tokens, keys and sessions are valid no more.
package struct DisableProvider: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// How many open sessions would end, counted no further than ``CountedSessions/limit``. Nothing is changed.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func preview(_ name: String) async throws -> CountedSessions {
        // Not in the transaction of the change: each sign-in of the provider would disturb it.
        try await context.read { transaction in
            try CountedSessions(behind: .provider(ProviderRepository(transaction).require(name).id), in: transaction)
        }
    }

    /// Disables.
    ///
    /// - Returns: how many open sessions there were just before, counted no further than ``CountedSessions/limit``.
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String, reason: AuditReason? = nil) async throws -> CountedSessions {
        let actor = context.actor
        let count = try await preview(name)
        try await context.write { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            try ProviderRepository(transaction).setDisabled(provider, at: transaction.now)
            try RevokeSessions(transaction: transaction)(.provider(provider), .providerDisabled, &events)
            events.record(.providerDisabled(provider), by: actor, because: reason)
        }
        return count
    }
}
