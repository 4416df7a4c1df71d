import Database
import Domain
import Repositories

/// Lists the scopes whose texts the breaker limits, for admins.
package struct ListThinnedTexts: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// The scopes that are limited now, in the order of their names.
    ///
    /// - Parameter cursor: a name; the list begins behind it.
    package func callAsFunction(
        limit: Int, after cursor: String? = nil
    ) async throws -> [PhoneSendRepository.Thinned] {
        try await context.read { try PhoneSendRepository($0).thinned(limit: limit, after: cursor) }
    }
}
