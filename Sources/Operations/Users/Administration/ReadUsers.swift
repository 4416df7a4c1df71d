import Database
import Domain
import Repositories

/// Users as an admin sees them, without personal data.
package struct ReadUsers: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The newest users.
    ///
    /// - Parameter cursor: the id of the last one on the page before.
    /// - Throws: `Refusal` `not_found` for a cursor that is gone.
    package func callAsFunction(limit: Int, after cursor: String? = nil) async throws -> [UserSummary] {
        try await context.store.snapshot { transaction in
            try UserRepository(transaction).list(limit: limit, after: cursor).map {
                try UserSummary($0, in: transaction)
            }
        }
    }

    /// Finds a user by id, or by `<provider slug>/<external id>`.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String) async throws -> UserSummary {
        try await context.store.snapshot { try UserSummary.find(name, in: $0) }
    }
}
