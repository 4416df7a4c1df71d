import Database
import Domain
import Repositories

/// An admin retires a provider's key: nothing new is accepted from it, its sessions go on.
package struct RetireProviderKey: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Retires.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ id: ProviderKeyID) async throws {
        let actor = context.actor
        try await context.commit { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction).retire(id, &events)
        }
    }
}
