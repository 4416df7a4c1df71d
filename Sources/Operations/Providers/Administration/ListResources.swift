import Database
import Domain
import Repositories

/// An admin lists the URLs of a provider's backend.
package struct ListResources: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// The provider's, oldest first.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(of name: String) async throws -> [ProviderResource] {
        try await context.read { transaction in
            let provider = try ProviderRepository(transaction).require(name).id
            return try ProviderResourceRepository(transaction).list(of: provider)
        }
    }
}
