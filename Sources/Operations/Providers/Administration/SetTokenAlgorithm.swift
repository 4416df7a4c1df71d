import Database
import Domain
import Repositories

/// An admin chooses by which algorithm a provider's sessions are signed for its backend.
package struct SetTokenAlgorithm: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Sets it; tokens that exist keep theirs until they expire.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ algorithm: AccessTokenAlgorithm, of name: String) async throws {
        let actor = context.actor
        try await context.write { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            try ProviderRepository(transaction).setTokenAlgorithm(provider, algorithm)
            events.record(.providerChanged(provider, detail: "token algorithm \(algorithm.rawValue)"), by: actor)
        }
    }
}
