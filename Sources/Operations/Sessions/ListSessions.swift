import Database
import Domain
import Foundation
import Repositories

/// The list from which a user chooses a session to end.
package struct ListSessions: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    /// The live sessions of a session's user, oldest first, each with its state at this moment.
    package func callAsFunction(
        for session: Session
    ) async throws -> [(session: Session, state: Session.EffectiveState)] {
        let now = context.environment.now()
        let policy = context.policy[\.sessions]
        return try await context.store.snapshot { try SessionRepository($0).listOpen(.user(session.userID)) }
            .map { ($0, $0.effectiveState(at: now, policy: policy)) }
            .filter { $0.1 == .authenticated || $0.1 == .challenged }
    }
}
