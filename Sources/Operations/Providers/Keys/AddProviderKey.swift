import Database
import Domain
import Repositories
import Tokens

/// An admin adds a key to a provider.
package struct AddProviderKey: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Adds.
    ///
    /// - Throws: `Refusal` `conflict` where the key is known already.
    package func callAsFunction(_ key: VerificationKey, to provider: ProviderID) async throws -> ProviderKeyID {
        let (id, actor): (ProviderKeyID, String) = (context.environment.newIdentifier(), context.actor)
        try await context.write { transaction, events in
            try ProviderKeyChanges(actor: actor, requester: nil, transaction: transaction)
                .add(key, as: id, to: provider, &events)
        }
        return id
    }
}
