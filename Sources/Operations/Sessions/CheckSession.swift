import Database
import Domain
import Foundation
import Repositories

/// Names the session behind a token and refuses one that may not act: the hot path of every protected action.
package struct CheckSession: Sendable {
    private let store: any Database
    private let sessions: SessionCache
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Checks against a store's sessions.
    package init(store: any Database, sessions: SessionCache, policy: CurrentPolicy, environment: Environment) {
        self.store = store
        self.sessions = sessions
        self.policy = policy
        self.environment = environment
    }

    /// Lets an application's action pass.
    ///
    /// - Throws: `Refusal` with the session codes of the contract.
    package func callAsFunction(_ shown: String, on connection: ClientConnection) async throws -> Session {
        let (session, live) = try await bound(shown, on: connection)
        let policy = policy[\.sessions]
        let now = environment.now()
        try session.requireAuthenticated(now: now, policy: policy)
        if !connection.isAttached(session.id) {
            guard policy.attach == .implicit else {
                throw Refusal(.sessionNotAttached, "Resume the session on this connection first.")
            }
            connection.attach(session)
        }
        if live.touch(now: now, policy: policy) { try await recordUse(session.id, at: now) }
        return session
    }

    /// Finds a session that is shown for its own sake (to resume, renew or end it): live and bound to this device,
    /// perhaps challenged.
    func bound(_ shown: String, on connection: ClientConnection) async throws -> (Session, CachedSession) {
        let now = environment.now()
        guard let token = SessionToken(shown: shown),
            let live = try await sessions.find(token.hash, now: now, policy: policy[\.sessions])
        else {
            throw Refusal(.sessionDestroyed, "The session was ended: create a new one.")
        }
        let session = live.session
        switch session.effectiveState(at: now, policy: policy[\.sessions]) {
        case .destroyed: throw Refusal(.sessionDestroyed, "The session was ended: create a new one.")
        case .expired: throw Refusal(.sessionExpired, "The session has expired: create a new one.")
        case .authenticated, .challenged: break
        }
        guard session.thumbprint == connection.thumbprint else {
            try await recordMismatch(of: session, on: connection)
            throw Refusal(
                .bindingMismatch, "The session is bound to another device's certificate; it is now challenged.")
        }
        return (session, live)
    }

    private func recordUse(_ id: SessionID, at now: Date) async throws {
        try await store.transaction { try SessionRepository($0).recordUse(id, at: now) }
    }

    /// A live token under another certificate was stolen or copied: the session must prove its user again.
    private func recordMismatch(of session: Session, on connection: ClientConnection) async throws {
        let auditID = environment.newUUID()
        let actor = connection.certificate.map { "device \($0.certificate.deviceID)" } ?? "unknown device"
        try await store.transaction { transaction in
            guard try SessionRepository(transaction).challenge(.session(session.id), at: transaction.now) > 0 else {
                return
            }
            try AuditRepository(transaction).append(
                .bindingMismatch, subject: "session \(session.id)", actor: actor, id: auditID)
            try ChangeLog(transaction).announce(.session(session.tokenHash))
        }
        sessions.drop(session.tokenHash)
    }
}
