import Database
import Domain
import Repositories

/// An admin registers the URL of a provider's backend.
package struct AddResource: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Registers it: from now on a device may name the provider by it.
    ///
    /// - Parameter own: the URLs of this service, as far as the command knows them. A token for a URL of ours would have
    ///   the audience of tokens that the service itself takes.
    /// - Throws: `Refusal` `not_found`; `malformed_request` for a URL of this service; `conflict` if it is registered, for
    ///   whichever provider.
    package func callAsFunction(_ url: ResourceURL, to name: String, own: [String] = []) async throws {
        guard !own.contains(where: url.isWithin) else {
            throw Refusal.ownResource(url.text)
        }
        let actor = context.actor
        try await context.write { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            let resource = ProviderResource(url: url, providerID: provider)
            guard try ProviderResourceRepository(transaction).insert(resource, at: transaction.now) else {
                throw Refusal.resourceRegistered(url.text)
            }
            events.record(.providerChanged(provider, detail: "resource \(url.text) added"), by: actor)
        }
    }
}
