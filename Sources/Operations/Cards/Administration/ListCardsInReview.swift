import Database
import Domain
import Foundation
import Repositories

/// The cards that no rule could decide about.
package struct ListCardsInReview: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// A card in review, without what is on it.
    package struct Waiting: Sendable {
        package let id: IdentityCardID
        package let userID: UserID
        package let submittedAt: Date
        package let failed: [CardCheck]
    }

    /// The cards that wait, oldest first.
    package func callAsFunction(limit: Int) async throws -> [Waiting] {
        try await context.store.snapshot { transaction in
            try IdentityCardRepository(transaction).listInReview(limit: limit).map { entry in
                Waiting(
                    id: entry.id, userID: entry.userID, submittedAt: entry.submittedAt,
                    failed: CardCheck.list(jsonText: entry.checks).filter { $0.result == .failed })
            }
        }
    }
}
