import Database
import Domain
import Repositories

/// An admin removes the URL of a provider's backend.
package struct RemoveResource: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Removes it: no token is made for it any more, and those that exist end within minutes.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ url: ResourceURL) async throws {
        let actor = context.actor
        try await context.write { transaction, events in
            let resources = ProviderResourceRepository(transaction)
            let found = try Self.find(url, resources)
            try resources.remove(url)
            events.record(.providerChanged(found.providerID, detail: "resource \(found.url.text) removed"), by: actor)
        }
    }

    /// Whether it could be removed. Nothing is changed.
    ///
    /// - Throws: as the change itself.
    package func preview(_ url: ResourceURL) async throws {
        _ = try await context.read { try Self.find(url, ProviderResourceRepository($0)) }
    }

    private static func find(_ url: ResourceURL, _ resources: ProviderResourceRepository) throws -> ProviderResource {
        guard let found = try resources.find(url) else {
            throw Refusal.unknownResource(url.text)
        }
        return found
    }
}
