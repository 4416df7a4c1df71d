import Database
import Domain
import Repositories

/// An admin retires a provider's key: nothing new is accepted from it, its sessions go on.
package struct RetireProviderKey: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Retires.
    ///
    /// - Returns: whether the provider could sign before, and has no key left to sign with.
    /// - Throws: `Refusal` `not_found`, or `conflict` for a key of an issuer's key set.
    @discardableResult
    package func callAsFunction(_ id: ProviderKeyID) async throws -> Bool {
        let actor = context.actor
        return try await context.write { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction).retire(id, &events)
        }
    }

    /// The same without a change.
    package func preview(_ id: ProviderKeyID) async throws -> Bool {
        let actor = context.actor
        return try await context.read {
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: $0).previewRetirement(id)
        }
    }
}
