import Database
import Domain
import Foundation
import Repositories

/// The cards that need a reviewer's decision.
package struct ListCardsInReview: Sendable {
    private let context: Administration

    package init(_ context: Administration) {
        self.context = context
    }

    /// A card in review, without its data.
    package struct Waiting: Sendable {
        package let id: IdentityCardID
        package let userID: UserID
        package let submittedAt: Date
        package let failed: [CardCheck]
    }

    /// The waiting cards, oldest first.
    ///
    /// - Parameter cursor: the last one on the page before.
    /// - Throws: `Refusal` `not_found` for a cursor that is gone.
    package func callAsFunction(limit: Int, after cursor: IdentityCardID? = nil) async throws -> [Waiting] {
        try await context.read { transaction in
            try IdentityCardRepository(transaction).listInReview(limit: limit, after: cursor).map { entry in
                Waiting(
                    id: entry.id, userID: entry.userID, submittedAt: entry.submittedAt,
                    failed: CardCheck.list(jsonText: entry.checks).filter { $0.result == .failed })
            }
        }
    }
}
