import Database
import Domain
import Repositories

/// The bans of one subject, for an admin.
package struct ReadBanHistory: Sendable {
    private let context: AdminContext
    private let keys: PersonalKeys

    package init(_ context: AdminContext, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// Every ban that holds or held a subject, newest first.
    ///
    /// - Throws: `Refusal` `not_found` for a user whom nobody knows.
    package func callAsFunction(_ target: BanTarget) async throws -> [BanSummary] {
        try await context.store.snapshot { [keys] transaction in
            let records = BanRepository(transaction)
            var seen: Set<BanID> = []
            return try records.entries(on: try target.subjects(keys: keys, in: transaction)).map(\.ban)
                .filter { seen.insert($0.id).inserted }
                .map { BanSummary(ban: $0, entries: try records.entries(of: $0.id)) }
        }
    }
}
