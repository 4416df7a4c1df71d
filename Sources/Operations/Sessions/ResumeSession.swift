import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

package extension Service {
    /// A session as it is returned to its device.
    struct OpenedSession: Sendable {
        package let session: Session
        /// Its token, if it is new. It is returned only once.
        package let token: SessionToken?
        /// The user's address in the API: `<provider slug>/<external id>`.
        package let address: String
        /// How far the user is verified.
        package let assurance: Assurance
        /// When the session expires at the latest.
        package let expiresAt: Date
        /// Seconds from now until the expiry.
        package let lifetime: Int
        /// Seconds without use after which it is challenged.
        package let idleLifetime: Int
        /// The names of the identity token's claims about the user that were ignored.
        package let ignoredClaims: [String]

        init(
            session: Session, token: SessionToken?, address: String, assurance: Assurance, now: Date,
            policy: SessionPolicy,
            ignored: [IgnoredClaim] = []
        ) {
            ignoredClaims = ignored.map(\.name)
            self.session = session
            self.token = token
            self.address = address
            self.assurance = assurance
            expiresAt = session.expiry(policy: policy)
            lifetime = max(0, Int(saturating: expiresAt.timeIntervalSince(now)))
            idleLifetime = Int(policy.idleLifetime)
        }
    }

    /// The sessions of a session's user that have not ended, oldest first, each with its current state.
    func listSessions(
        for session: Session
    ) async throws -> [(session: Session, state: Session.EffectiveState)] {
        let now = environment.now()
        let policy = policy[\.sessions]
        return try await read { try SessionRepository($0).listOpen(.user(session.userID)) }
            .map { ($0, $0.effectiveState(at: now, policy: policy)) }
            .filter { $0.1 == .authenticated || $0.1 == .challenged }
    }

    /// `ResumeSession`: attaches a session to another connection of its device, and returns it.
    ///
    /// - Parameter userID: the user's id that the device has stored.
    /// - Throws: `Refusal` with the session codes; `session_destroyed` also for another user's session.
    func resumeSession(
        userID: String, sessionToken: String, on connection: ClientConnection
    ) async throws -> OpenedSession {
        let (session, _) = try await boundSession(sessionToken, on: connection)
        guard UserID(userID[...]) == session.userID else {
            throw Refusal.sessionOfAnotherUser
        }
        let policy = policy[\.sessions]
        try session.requireAuthenticated(now: environment.now(), policy: policy)
        connection.attach(session)
        let user = try await read { try UserRepository($0).find(session.userID) }
        let known = try await caches.providers.find(session.providerID)
        return OpenedSession(
            session: session, token: nil,
            address: known?.provider.address(of: session.externalID) ?? session.externalID,
            assurance: user?.assurance ?? .none, now: environment.now(), policy: policy)
    }
}
