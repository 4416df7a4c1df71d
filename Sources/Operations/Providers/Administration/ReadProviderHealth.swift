import Database
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

    /// `readProvider(_:)` with the health, in one snapshot and at most three statements.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readProviderWithHealth(_ name: String) async throws -> (detail: ProviderDetail, health: ProviderHealth) {
        try await read(.manage) { transaction in
            let provider = try ProviderRepository(transaction).require(name)
            return try transaction.joined { transaction in
                let health = (
                    deliveries: try EventStreamRepository(transaction).deliveries(of: provider.id),
                    issuer: try provider.issuer.flatMap { try IssuerRepository(transaction).find($0.url) }
                )
                return (detail: try ProviderDetail(of: provider, in: transaction), health: health)
            }
        }
    }
}
