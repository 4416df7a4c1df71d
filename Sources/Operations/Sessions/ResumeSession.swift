import Database
import Domain
import Foundation
import Repositories

/// `ResumeSession`: attaches a session to another connection of its device, and shows what it is.
package struct ResumeSession: Sendable {
    private let store: any Database
    private let check: CheckSession
    private let providers: ProviderCache
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Resumes sessions of a store.
    package init(
        store: any Database, check: CheckSession, providers: ProviderCache, policy: CurrentPolicy,
        environment: Environment
    ) {
        self.store = store
        self.check = check
        self.providers = providers
        self.policy = policy
        self.environment = environment
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
        let policy = policy[\.sessions]
        try session.requireAuthenticated(now: environment.now(), policy: policy)
        connection.attach(session)
        let user = try await store.snapshot { try UserRepository($0).find(session.userID) }
        let known = try await providers.find(session.providerID)
        return OpenedSession(
            session: session, token: nil,
            address: known?.provider.address(of: session.externalID) ?? session.externalID,
            assurance: user?.assurance ?? .none, now: environment.now(), policy: policy)
    }
}
