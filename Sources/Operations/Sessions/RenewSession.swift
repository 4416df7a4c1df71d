import Database
import Domain
import Foundation
import Repositories
import Tokens

/// `RenewSession`: a challenged session proves its user again and keeps its id under a new token.
package struct RenewSession: Sendable {
    private let store: any Database
    private let check: CheckSession
    private let verify: VerifyIdentity
    private let bans: RefuseBanned
    private let sessions: SessionCache
    private let policy: CurrentPolicy
    private let environment: Environment

    /// Renews sessions of a store.
    package init(
        store: any Database, check: CheckSession, verify: VerifyIdentity, bans: RefuseBanned, sessions: SessionCache,
        policy: CurrentPolicy, environment: Environment
    ) {
        self.store = store
        self.check = check
        self.verify = verify
        self.bans = bans
        self.sessions = sessions
        self.policy = policy
        self.environment = environment
    }

    /// Renews.
    ///
    /// - Throws: `Refusal` `conflict` where the session is not challenged or the token is another user's; the session
    ///   codes; `invalid_identity_token`; `user_banned`.
    package func callAsFunction(
        sessionToken: String, identityToken: String, on connection: ClientConnection
    ) async throws -> OpenedSession {
        let policy = policy[\.sessions]
        let (old, _) = try await check.bound(sessionToken, on: connection)
        let state = old.effectiveState(at: environment.now(), policy: policy)
        guard state == .challenged else {
            throw Refusal(.conflict, "Only a challenged session can be renewed.", state: state.rawValue)
        }
        let identity = try await verify(identityToken, on: connection)
        let anotherUser = Refusal(
            .conflict, "The identity token names another user than the session's.", state: state.rawValue)
        guard identity.token.provider == old.providerID else { throw anotherUser }
        if let application = identity.token.applicationID, application != old.applicationID {
            throw Refusal(
                .invalidIdentityToken, "app_id in the token names another app than the session's.",
                reason: .wrongAudience)
        }
        let token = SessionToken(randomBytes: environment.randomBytes(32))
        let epoch = sessions.epoch
        let admission = try await store.signIn(spending: identity.nonce) {
            transaction -> RefuseBanned.Admission<(Session, Assurance)> in
            let context = try OpenSession.context(
                of: identity, on: connection, deviceID: old.deviceID, mostSessions: 0, in: transaction)
            // By id: names that Unicode calls equivalent are those of two users.
            guard context.user?.id == old.userID else { throw anotherUser }
            let now = transaction.now
            if context.mayUserBeHeld, let hold = try RefuseBanned.ruling(on: old.userID, in: transaction) {
                return .banned(old.userID, hold, at: now)
            }
            var session = old
            session.tokenHash = token.hash
            session.providerKeyID = identity.token.keyID
            session.state = .authenticated
            session.renewedAt = now
            session.lastUsedAt = now
            session.challengedAt = nil
            guard try SessionRepository(transaction).renew(session, replacing: old.tokenHash) else {
                throw Refusal(.sessionDestroyed, "The session was ended or renewed meanwhile.")
            }
            try ChangeLog(transaction).announce(.session(old.tokenHash))
            return .admitted((session, context.user?.assurance ?? .none))
        }
        let (session, assurance) = try bans.requireAdmitted(admission, on: connection)
        sessions.remember(session, since: epoch)
        sessions.drop(old.tokenHash)
        connection.attach(session)
        return OpenedSession(
            session: session, token: token, address: identity.known.provider.address(of: session.externalID),
            assurance: assurance, now: session.renewedAt, policy: policy)
    }
}
