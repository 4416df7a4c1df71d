import Database
import Domain
import Repositories

/// A provider revokes a key of its own over HTTP.
package struct RevokeOwnKey: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// Revokes a key with all that it added.
    ///
    /// - Throws: `Refusal` `not_found`, `conflict` with the state that forbids it, `provider_token_invalid`.
    @discardableResult
    package func callAsFunction(
        _ id: ProviderKeyID, endingSessions: Bool, by caller: FreshProof
    ) async throws -> ProviderKeyRevocation {
        try await context.write { transaction, events in
            try ProviderKeyChanges(
                actor: "provider \(caller.id)", requester: caller.provider, transaction: transaction
            ).revoke(id, endingSessions: endingSessions, keepingAdded: false, reason: nil, &events)
        }
    }
}
