import Database
import Domain
import Foundation
import Repositories
import Tokens

package extension Service {
    /// `RenewSession`: renews a challenged session by another identity token. It keeps its id and gets a new token.
    ///
    /// - Throws: `Refusal` `conflict` if the session is not challenged or the token is another user's; the session
    ///   codes; `invalid_identity_token`; `rate_limited`; `user_banned`.
    func renewSession(
        sessionToken: String, identityToken: String, on connection: ClientConnection
    ) async throws -> OpenedSession {
        try await recordSignIn(.renew, on: connection) { trace in
            try await renewSession(sessionToken, identityToken, on: connection, trace)
        }
    }

    private func renewSession(
        _ sessionToken: String, _ identityToken: String, on connection: ClientConnection, _ trace: SignInTrace
    ) async throws -> OpenedSession {
        let policy = policy[\.sessions]
        let (old, _) = try await boundSession(sessionToken, on: connection)
        trace.note(old)
        let state = old.effectiveState(at: environment.now(), policy: policy)
        guard let renewed = state.machineState.after(.renew, while: connection.state) else {
            throw Refusal.notRenewable(state: state.rawValue)
        }
        let identity = try await verifyIdentity(identityToken, on: connection, trace)
        let anotherUser = Refusal.renewedByAnotherUser(state: state.rawValue)
        guard identity.token.provider == old.providerID else { throw anotherUser }
        if let application = identity.token.applicationID, application != old.applicationID {
            throw Refusal.tokenOfAnotherAppThanSession
        }
        let token = SessionToken(of: old.id, randomBytes: environment.randomBytes(32))
        let admission = try await signIn(spending: identity.nonce) {
            transaction, events -> RefuseBanned.Admission<(Session, Assurance)> in
            let found = try identity.signInContext(
                on: connection, deviceID: old.deviceID, mostSessions: 0, in: transaction)
            // Compared by id, because names that are equivalent in Unicode may be those of two users.
            guard found.user?.id == old.userID else { throw anotherUser }
            let now = transaction.now
            try SessionRepository(transaction).enqueueEnded(Session(spending: identity.nonce, of: old, at: now))
            if found.mayUserBeBanned,
                let entry = try RefuseBanned.activeBan(
                    atSignInOf: old.userID, by: old.applicationID, in: transaction)
            {
                return .banned(old.userID, entry, at: now)
            }
            var session = old
            session.tokenHash = token.hash
            session.providerKeyID = identity.token.keyID
            session.state = renewed
            session.renewedAt = now
            session.lastUsedAt = now
            session.challengedAt = nil
            let isRenewed = try SessionRepository(transaction).renew(
                session, replacing: old.tokenHash, at: found.generations.key)
            guard isRenewed else {
                throw Refusal.sessionRenewedElsewhere
            }
            events.record(.sessionRenewed(session, replacing: old.tokenHash))
            return .admitted((session, found.user?.assurance ?? .none))
        }
        let (session, assurance) = try RefuseBanned(key: keys.exports).requireAdmitted(
            admission, thumbprint: connection.thumbprint)
        connection.attach(session)
        return OpenedSession(
            session: session, token: token, address: identity.known.provider.address(of: session.externalID),
            assurance: assurance, now: session.renewedAt, policy: policy, ignored: identity.token.ignored)
    }
}
