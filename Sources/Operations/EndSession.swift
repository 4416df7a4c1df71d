import Database
import Foundation
import Identity
import Records

/// `DestroySession`, and the list from which a user chooses.
public struct EndSession: Sendable {
    private let store: any Database
    private let check: CheckSession
    private let sessions: LiveSessions
    private let policy: CurrentPolicy
    private let surroundings: Surroundings

    /// Ends sessions of a store.
    public init(
        store: any Database, check: CheckSession, sessions: LiveSessions, policy: CurrentPolicy,
        surroundings: Surroundings
    ) {
        self.store = store
        self.check = check
        self.sessions = sessions
        self.policy = policy
        self.surroundings = surroundings
    }

    /// Ends the session whose token is shown; a challenged one too.
    public func current(_ sessionToken: String, on connection: ClientConnection) async throws {
        let (session, _) = try await check.bound(sessionToken, on: connection)
        try await end(session)
    }

    /// Ends another session of the same user.
    ///
    /// - Throws: ``Refusal`` `not_found` for what is not the user's own, too.
    public func other(_ id: String, by session: Session) async throws {
        guard let id = SessionID(id[...]),
            let other = try await store.look({ try SessionRecords($0).find(id) }), other.userID == session.userID,
            other.state != .unauthenticated
        else { throw Refusal(.notFound, "The user has no such session.") }
        try await end(other)
    }

    /// The user's live sessions, oldest first, each with its standing.
    public func list(for session: Session) async throws -> [(session: Session, standing: Session.Standing)] {
        let now = surroundings.now()
        let policy = policy[\.sessions]
        return try await store.look { try SessionRecords($0).listOpen(.user(session.userID)) }
            .map { ($0, $0.standing(now: now, policy: policy)) }
            .filter { $0.1 == .authenticated || $0.1 == .challenged }
    }

    private func end(_ session: Session) async throws {
        try await store.decide { transaction in
            try SessionRecords(transaction).end(.session(session.id), at: transaction.now, reason: "ended by its user")
            try ChangeRecords(transaction).announce(.session(session.tokenHash))
        }
        sessions.drop(session.tokenHash)
    }
}
