import Database
import Domain
import Repositories

/// What admins see of texts that are thinned out.
package struct ListThinnedTexts: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// What is thinned out now.
    package func callAsFunction(limit: Int) async throws -> [PhoneSendRepository.Thinned] {
        try await context.store.snapshot { try PhoneSendRepository($0).thinned(limit: limit) }
    }
}
