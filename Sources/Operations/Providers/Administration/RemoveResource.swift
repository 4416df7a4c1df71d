import Database
import Domain
import Repositories

/// An admin removes the URL of a provider's backend.
package struct RemoveResource: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Removes it: no token is made for it any more, and those that exist end within minutes.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ url: ResourceURL) async throws {
        let actor = context.actor
        try await context.commit { transaction, events in
            let resources = ProviderResourceRepository(transaction)
            guard let found = try resources.find(url) else {
                throw Refusal(.notFound, "\(url.text) is registered for no provider.")
            }
            try resources.remove(url)
            events.record(.providerChanged(found.providerID, detail: "resource \(found.url.text) removed"), by: actor)
        }
    }
}
