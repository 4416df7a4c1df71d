import Database
import Domain
import Repositories

/// A ban with what it holds.
package struct BanSummary: Sendable {
    package let ban: Ban
    /// What the admin named first; empty where the ban is over and its person erased.
    package let entries: [BanEntry]
}

/// The bans that an admin sees.
package struct ListBans: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// The newest bans.
    ///
    /// - Parameters:
    ///   - isActive: only those in force.
    ///   - cursor: the id of the last one on the page before.
    /// - Throws: `Refusal` `not_found` for a cursor that is gone.
    package func callAsFunction(
        isActive: Bool, limit: Int, after cursor: String? = nil
    ) async throws -> [BanSummary] {
        try await context.store.snapshot { transaction in
            let records = BanRepository(transaction)
            return try records.list(isActive: isActive, limit: limit, after: cursor).map {
                BanSummary(ban: $0, entries: try records.entries(of: $0.id))
            }
        }
    }
}
