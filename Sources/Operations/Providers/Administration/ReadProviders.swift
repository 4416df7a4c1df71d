import Database
import Domain
import Repositories

/// Providers as an admin sees them.
package struct ReadProviders: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// All providers by slug.
    package func callAsFunction() async throws -> [Provider] {
        try await context.store.snapshot { try ProviderRepository($0).list() }
    }

    /// A provider with its apps and keys, by id or slug.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String) async throws -> (Provider, [Application], [ProviderKeyRecord]) {
        try await context.store.snapshot { transaction in
            let records = ProviderRepository(transaction)
            let provider = try records.require(name)
            return (
                provider, try records.listApplications(of: provider.id),
                try ProviderKeyRepository(transaction).list(of: provider.id)
            )
        }
    }
}
