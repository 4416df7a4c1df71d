import Database
import Domain
import Repositories

/// Lists the outbox, for admins.
package struct ListOutbox: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The newest messages, of one state or of all.
    ///
    /// - Parameter cursor: the id of the last one on the page before.
    /// - Throws: `Refusal` `not_found` for a cursor that is gone.
    package func callAsFunction(
        _ state: OutboxState?, limit: Int, after cursor: String? = nil
    ) async throws -> [OutboxMessage] {
        try await context.store.snapshot { try OutboxRepository($0).list(state, limit: limit, after: cursor) }
    }
}
