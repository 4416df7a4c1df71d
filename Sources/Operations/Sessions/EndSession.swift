import Database
import Domain
import Foundation
import Repositories

/// `DestroySession`, and the list from which a user chooses.
package struct EndSession: Sendable {
    private let store: any Database
    private let check: CheckSession
    private let sessions: SessionCache
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Ends sessions of a store.
    package init(
        store: any Database, check: CheckSession, sessions: SessionCache, policy: CurrentPolicy,
        environment: Environment
    ) {
        self.store = store
        self.check = check
        self.sessions = sessions
        self.policy = policy
        self.environment = environment
    }

    /// Ends the session whose token is shown; a challenged one too.
    package func current(_ sessionToken: String, on connection: ClientConnection) async throws {
        let (session, _) = try await check.bound(sessionToken, on: connection)
        try await store.transaction { try Self.end(session, in: $0) }
        sessions.drop(session.tokenHash)
    }

    /// Ends another session of the same user.
    ///
    /// - Throws: `Refusal` `not_found` for what is not the user's own, too.
    package func other(_ id: String, by session: Session) async throws {
        guard let id = SessionID(id[...]) else { throw Self.unknown }
        let other = try await SessionStore(store).act(for: session) { transaction, holder in
            guard let other = try SessionRepository(transaction).find(id), other.userID == holder.user.id,
                other.state != .unauthenticated
            else { throw Self.unknown }
            try Self.end(other, in: transaction)
            return other
        }
        sessions.drop(other.tokenHash)
    }

    private static let unknown = Refusal(.notFound, "The user has no such session.")

    /// The user's live sessions, oldest first, each with its state at this moment.
    package func list(for session: Session) async throws -> [(session: Session, state: Session.EffectiveState)] {
        let now = environment.now()
        let policy = policy[\.sessions]
        return try await store.snapshot { try SessionRepository($0).listOpen(.user(session.userID)) }
            .map { ($0, $0.effectiveState(at: now, policy: policy)) }
            .filter { $0.1 == .authenticated || $0.1 == .challenged }
    }

    private static func end(_ session: Session, in transaction: any Transaction) throws {
        try SessionRepository(transaction).end(.session(session.id), at: transaction.now, reason: "ended by its user")
        try ChangeLog(transaction).announce(.session(session.tokenHash))
    }
}
