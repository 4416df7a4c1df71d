import Database
import Domain
import Repositories

/// Lists the scopes whose texts the breaker limits, for admins.
package struct ListThinnedTexts: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The scopes that are limited now.
    package func callAsFunction(limit: Int) async throws -> [PhoneSendRepository.Thinned] {
        try await context.store.snapshot { try PhoneSendRepository($0).thinned(limit: limit) }
    }
}
