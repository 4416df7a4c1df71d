import Database
import Domain
import Repositories

/// The bans that stay in force for those whom lifted bans held.
package struct ListRemainingBans: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Every ban in force on a user, number, document or device that one of some bans held, newest first.
    ///
    /// - Parameter lifted: bans that are not in force any more.
    package func callAsFunction(after lifted: [Ban]) async throws -> [Ban] {
        try await context.store.snapshot { transaction in
            let records = BanRepository(transaction)
            let subjects = try Set(lifted.flatMap { try records.entries(of: $0.id) }.map(\.subject))
            var seen = Set(lifted.map(\.id))
            return try subjects.flatMap { subject in
                // A user is held by the proven number and document, too.
                if case .user(let user) = subject { return try records.holdsInForce(on: user) }
                return try records.entries(on: [subject]).filter { $0.isActive(at: transaction.now) }
            }
            .map(\.ban).sorted { $0.createdAt > $1.createdAt }.filter { seen.insert($0.id).inserted }
        }
    }
}
