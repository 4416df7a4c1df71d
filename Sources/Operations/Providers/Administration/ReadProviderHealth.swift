import Domain
import Foundation
import Repositories

package extension Administration {
    /// How the events of a provider's streams are delivered, and when the keys of its issuer were fetched; `nil` for a
    /// provider without an issuer.
    typealias ProviderHealth = (deliveries: [EventStreamRepository.Delivery], issuer: IssuerReading?)

    /// Providers by slug.
    ///
    /// - Parameter slug: that of the last provider on the previous page; `nil` for the first page.
    func listProviders(limit: Int, after slug: String?) async throws -> [Provider] {
        try await read(.manage) { try ProviderRepository($0).list(limit: limit, after: slug) }
    }

    func readProviderHealth(_ provider: Provider) async throws -> ProviderHealth {
        try await read(.manage) { transaction in
            (
                try EventStreamRepository(transaction).deliveries(of: provider.id),
                try provider.issuer.flatMap { try IssuerRepository(transaction).find($0.url) }
            )
        }
    }
}
