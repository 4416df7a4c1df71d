import Database
import Domain
import Repositories

/// An admin enables a provider again; no session revives.
package struct EnableProvider: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// Enables.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String) async throws {
        let actor = context.actor
        try await context.write { transaction, events in
            let provider = try ProviderRepository(transaction).require(name).id
            try ProviderRepository(transaction).setDisabled(provider, at: nil)
            events.record(.providerEnabled(provider), by: actor)
        }
    }
}
