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
    /// - Parameter isActive: only those in force.
    package func callAsFunction(isActive: Bool, limit: Int) async throws -> [BanSummary] {
        try await context.store.snapshot { transaction in
            let records = BanRepository(transaction)
            return try records.list(isActive: isActive, limit: limit).map {
                BanSummary(ban: $0, entries: try records.entries(of: $0.id))
            }
        }
    }
}
