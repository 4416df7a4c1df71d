import Database
import Domain
import Repositories

/// The sessions that an admin sees.
package struct ListOpenSessions: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The newest sessions that were not ended.
    package func callAsFunction(limit: Int) async throws -> [Session] {
        try await context.store.snapshot { try SessionRepository($0).listOpen(limit: limit) }
    }
}
