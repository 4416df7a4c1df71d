import Database
import Domain
import Foundation
import Repositories

/// `ResumeSession`: attaches a session to another connection of its device, and shows what it is.
package struct ResumeSession: Sendable {
    private let context: ServiceContext
    private let check: CheckSession

    package init(_ context: ServiceContext) {
        self.context = context
        check = CheckSession(context)
    }

    /// Resumes.
    ///
    /// - Parameter userID: what the device remembers the user's id to be.
    /// - Throws: `Refusal` with the session codes; `session_destroyed` too where the user is another.
    package func callAsFunction(
        userID: String, sessionToken: String, on connection: ClientConnection
    ) async throws -> OpenedSession {
        let (session, _) = try await check.bound(sessionToken, on: connection)
        guard UserID(userID[...]) == session.userID else {
            throw Refusal(.sessionDestroyed, "There is no such session of this user: create a new one.")
        }
        let policy = context.policy[\.sessions]
        try session.requireAuthenticated(now: context.environment.now(), policy: policy)
        connection.attach(session)
        let user = try await context.store.snapshot { try UserRepository($0).find(session.userID) }
        let known = try await context.caches.providers.find(session.providerID)
        return OpenedSession(
            session: session, token: nil,
            address: known?.provider.address(of: session.externalID) ?? session.externalID,
            assurance: user?.assurance ?? .none, now: context.environment.now(), policy: policy)
    }
}
