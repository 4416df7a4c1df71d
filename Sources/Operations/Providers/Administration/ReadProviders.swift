import Database
import Domain
import Repositories

/// Providers as an admin sees them.
package struct ReadProviders: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// All providers by slug.
    package func callAsFunction() async throws -> [Provider] {
        try await context.read { try ProviderRepository($0).list() }
    }

    /// A provider with all that is registered of it.
    package struct Detail: Sendable {
        package let provider: Provider
        package let applications: [Application]
        package let keys: [ProviderKeyRecord]
        /// The URL of its receiver; `nil` if it has none.
        package let webhook: String?
        package let resources: [ProviderResource]
        package let streams: [EventStream]
    }

    /// Everything that is registered of a provider, by id or slug.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func detail(_ name: String) async throws -> Detail {
        try await context.read { transaction in
            let records = ProviderRepository(transaction)
            let provider = try records.require(name)
            return Detail(
                provider: provider, applications: try records.listApplications(of: provider.id),
                keys: try ProviderKeyRepository(transaction).list(of: provider.id),
                webhook: try ProviderWebhookRepository(transaction).find(provider.id),
                resources: try ProviderResourceRepository(transaction).list(of: provider.id),
                streams: try EventStreamRepository(transaction).list(of: provider.id))
        }
    }

    /// When the keys of issuers were read, by issuer.
    package func issuerReadings() async throws -> [String: IssuerReading] {
        try await context.read { try IssuerRepository($0).list() }
    }

    /// A provider with its apps and keys, by id or slug.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String) async throws -> (Provider, [Application], [ProviderKeyRecord]) {
        try await context.read { transaction in
            let records = ProviderRepository(transaction)
            let provider = try records.require(name)
            return (
                provider, try records.listApplications(of: provider.id),
                try ProviderKeyRepository(transaction).list(of: provider.id)
            )
        }
    }
}
