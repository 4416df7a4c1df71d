import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// A session as its holder is told about it; the token only where it is new.
package struct OpenedSession: Sendable {
    package let session: Session
    /// Its new token, to be said once.
    package let token: SessionToken?
    /// `<provider slug>/<external id>`.
    package let address: String
    /// How far the user is verified.
    package let assurance: Assurance
    /// When the session ends at the latest.
    package let expiresAt: Date
    /// Seconds from now until then.
    package let lifetime: Int
    /// Seconds without use until it is challenged.
    package let idleLifetime: Int
    /// The names of the identity token's claims that describe the user and were left out.
    package let ignoredClaims: [String]

    init(
        session: Session, token: SessionToken?, address: String, assurance: Assurance, now: Date, policy: SessionPolicy,
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

extension Service {
    /// The live sessions of a session's user, oldest first, each with its state at this moment.
    package func listSessions(
        for session: Session
    ) async throws -> [(session: Session, state: Session.EffectiveState)] {
        let now = environment.now()
        let policy = policy[\.sessions]
        return try await read { try SessionRepository($0).listOpen(.user(session.userID)) }
            .map { ($0, $0.effectiveState(at: now, policy: policy)) }
            .filter { $0.1 == .authenticated || $0.1 == .challenged }
    }

    /// `ResumeSession`: attaches a session to another connection of its device, and shows what it is.
    ///
    /// - Parameter userID: what the device remembers the user's id to be.
    /// - Throws: `Refusal` with the session codes; `session_destroyed` too where the user is another.
    package func resumeSession(
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
