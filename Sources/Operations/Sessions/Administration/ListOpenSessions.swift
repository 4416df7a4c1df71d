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
    ///
    /// - Parameter user: whose; `nil` for everybody's.
    /// - Throws: `Refusal` `not_found` for a user.
    package func callAsFunction(limit: Int, user: String? = nil) async throws -> [Session] {
        try await context.store.snapshot { transaction in
            let sessions = SessionRepository(transaction)
            guard let user else { return try sessions.listOpen(limit: limit) }
            let id = try UserSummary.find(user, in: transaction).user.id
            return try Array(sessions.listOpen(.user(id)).reversed().prefix(limit))
        }
    }
}
