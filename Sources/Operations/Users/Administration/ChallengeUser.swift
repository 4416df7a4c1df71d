import Database
import Domain
import Repositories

/// An admin challenges every session of a user: the user must sign in again.
package struct ChallengeUser: Sendable {
    private let context: AdminContext

    package init(_ context: AdminContext) {
        self.context = context
    }

    /// Challenges the sessions; returns their number.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ name: String, reason: AuditReason?) async throws -> Int {
        let actor = context.actor
        return try await context.commit { transaction, events in
            let user = try UserSummary.find(name, in: transaction).user.id
            let challenged = try SessionRepository(transaction).challenge(.user(user), at: transaction.now)
            events.record(.userChallenged(user), by: actor, because: reason)
            return challenged
        }
    }
}
