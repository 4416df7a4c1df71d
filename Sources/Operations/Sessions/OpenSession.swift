import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

package extension Service {
    /// `CreateSession`: opens a session of the verified identity token's user on this device and connection.
    ///
    /// - Parameters:
    ///   - applicationID: may be `nil` if the provider has one app.
    ///   - proof: the kinds of token that are accepted.
    /// - Throws: `Refusal` `invalid_identity_token`, `malformed_request`, `rate_limited`, `certificate_revoked`,
    ///   `user_banned`, `unavailable`.
    func openSession(
        identityToken: String, applicationID: String?, as proof: IdentityProof = .any, on connection: ClientConnection
    ) async throws -> OpenedSession {
        try await recordSignIn(.open, on: connection) { trace in
            try await openSession(identityToken, applicationID, as: proof, on: connection, trace)
        }
    }

    private func openSession(
        _ identityToken: String, _ applicationID: String?, as proof: IdentityProof, on connection: ClientConnection,
        _ trace: SignInTrace
    ) async throws -> OpenedSession {
        guard let device = connection.certificate,
            let state = Session.State.unauthenticated.after(.create, while: connection.state)
        else { throw Refusal.connectionWithoutCertificate }
        let policy = policy[\.sessions]
        let identity = try await verifyIdentity(identityToken, as: proof, on: connection, trace)
        let application = try Self.application(
            applicationID, of: identity, about: proof == .any ? .applicationID : .clientID)
        trace.note(application)
        let token = SessionToken(of: identity.nonce.sessionID, randomBytes: environment.randomBytes(32))
        let now = environment.now()
        let draft = Session(
            id: identity.nonce.sessionID, tokenHash: token.hash, userID: environment.newIdentifier(),
            providerID: identity.token.provider, externalID: identity.token.externalID, applicationID: application.id,
            deviceID: device.certificate.deviceID, thumbprint: connection.thumbprint,
            providerKeyID: identity.token.keyID, state: state, createdAt: now, renewedAt: now, lastUsedAt: now,
            challengedAt: nil)
        let (session, assurance) = try await open(draft, identity, on: connection)
        connection.attach(session)
        return OpenedSession(
            session: session, token: token, address: identity.known.provider.address(of: session.externalID),
            assurance: assurance, now: session.createdAt, policy: policy, ignored: identity.token.ignored)
    }

    /// By one statement if the user is known and nothing forbids it, otherwise by a transaction that gives the reason.
    private func open(
        _ draft: Session, _ identity: VerifiedIdentity, on connection: ClientConnection
    ) async throws -> (Session, Assurance) {
        do {
            if let opened = try await openAtOnce(draft, identity) { return opened }
        } catch let refusal as Refusal where refusal.reason == .outcomeUnknown {
            return try await resolve(draft, identity, on: connection, refusal)
        }
        // A replacement would conflict with sign-ins that take turns.
        guard !store.isActive(.sessions(like: draft)) else {
            return try await decide(draft, identity, on: connection)
        }
        do {
            return try await decide(draft, identity, on: connection, mayReplace: true)
        } catch let full as DeviceIsFull {
            do {
                if let opened = try await openAtOnce(draft, identity, insteadOf: full.oldest) { return opened }
            } catch let refusal as Refusal where refusal.reason == .outcomeUnknown {
                return try await resolve(draft, identity, on: connection, refusal)
            }
            return try await decide(draft, identity, on: connection)
        }
    }

    /// The user has the maximum number of sessions on the device, and only the oldest one must end.
    private struct DeviceIsFull: Error {
        let oldest: Session
    }

    /// Finds out whether a session with an unknown commit was stored. If it was not, it is opened now.
    ///
    /// - Parameter unknown: the error to throw if that cannot be found out.
    private func resolve(
        _ draft: Session, _ identity: VerifiedIdentity, on connection: ClientConnection, _ unknown: Refusal
    ) async throws -> (Session, Assurance) {
        do {
            return try await decide(draft, identity, on: connection)
        } catch let refusal as Refusal where refusal.reason == .nonceUsed {
            // Opened by the statement itself, if the row has the digest of this token.
            let opened: (Session, Assurance)?
            do { opened = try await confirm(draft) } catch { throw unknown }
            guard let opened else { throw refusal }
            return opened
        } catch let refusal as Refusal where refusal.code == .userBanned {
            // This refusal spends the nonce, without a session.
            throw refusal
        } catch {
            throw unknown
        }
    }

    private func confirm(_ draft: Session) async throws -> (Session, Assurance)? {
        try await write { transaction, events in
            guard let session = try SessionRepository(transaction).confirm(draft.id, tokenHash: draft.tokenHash) else {
                return nil
            }
            events.record(.sessionOpened(session))
            return (session, try UserRepository(transaction).find(session.userID)?.assurance ?? .none)
        }
    }

    /// What a transaction did, or why it changed nothing.
    private enum Decision {
        case opened(Session, Assurance)
        /// A shared statement is to end the oldest session and open the new one.
        case full(oldest: Session)
    }

    /// - Parameter mayReplace: whether to throw `DeviceIsFull` without a change if a shared statement may open the
    ///   session. Otherwise sign-ins of the user take turns, because each one ends the oldest session of a device.
    private func decide(
        _ draft: Session, _ identity: VerifiedIdentity, on connection: ClientConnection, mayReplace: Bool = false
    ) async throws -> (Session, Assurance) {
        let (policy, keys, nonce) = (policy[\.sessions], keys.personal, identity.nonce)
        let admission = try await signIn(spending: nonce, inTurn: mayReplace ? nil : .sessions(like: draft)) {
            transaction, events -> RefuseBanned.Admission<Decision> in
            let found = try identity.signInContext(
                on: connection, deviceID: draft.deviceID, mostSessions: policy.perUserAndDevice, in: transaction)
            let now = transaction.now
            let user =
                found.user
                ?? User(
                    id: draft.userID, providerID: draft.providerID, externalID: draft.externalID,
                    assurance: .none, createdAt: now)
            if found.user == nil { try UserRepository(transaction).enqueueInsert(user) }
            let session = Session(draft, of: user, at: now)
            if found.mayUserBeBanned,
                let entry = try RefuseBanned.activeBan(
                    atSignInOf: user.id, by: session.applicationID, in: transaction)
            {
                // The refusal is thrown outside the transaction, so the nonce stays spent.
                try SessionRepository(transaction).enqueueEnded(Session(spending: nonce, of: session, at: now))
                return .banned(user.id, entry, at: now)
            }
            let isFull = found.openSessions >= policy.perUserAndDevice
            let superseded = try isFull ? Self.superseded(with: session, policy: policy, in: transaction) : []
            if mayReplace, transaction.engine == .postgreSQL, superseded.count == 1, let oldest = superseded.first {
                return .admitted(.full(oldest: oldest))
            }
            try identity.profile.keep(for: user, keys: keys, in: transaction)
            for old in superseded {
                let ended = try SessionRepository(transaction).end(.session(old.id), at: now, .superseded)
                for session in ended { events.record(.sessionEnded(session, .superseded)) }
            }
            try SessionRepository(transaction).insert(session, at: found.generations)
            events.record(.sessionOpened(session))
            return .admitted(.opened(session, user.assurance))
        }
        let decision = try RefuseBanned(key: self.keys.exports).requireAdmitted(
            admission, thumbprint: connection.thumbprint)
        switch decision {
        case .opened(let session, let assurance): return (session, assurance)
        // Thrown outside the transaction, which is committed: a rollback would count as an abort.
        case .full(let oldest): throw DeviceIsFull(oldest: oldest)
        }
    }

    /// The oldest sessions of the user on the device above the policy's limit.
    private static func superseded(
        with session: Session, policy: SessionPolicy, in transaction: any Transaction
    ) throws -> ArraySlice<Session> {
        let live = try SessionRepository(transaction).listOpen(.user(session.userID)).filter {
            $0.deviceID == session.deviceID && $0.effectiveState(at: session.createdAt, policy: policy) != .expired
        }
        return live.prefix(max(0, live.count + 1 - policy.perUserAndDevice))
    }

    /// - Parameter subject: the app's id as the caller's form of sign-in names it.
    private static func application(
        _ text: String?, of identity: VerifiedIdentity, about subject: Refusal.Subject
    ) throws(Refusal) -> Application {
        let applications = identity.known.applications
        let application: Application
        if let text {
            guard let id = ApplicationID(text[...]), let found = applications.first(where: { $0.id == id }) else {
                throw identity.known.provider.mistakenApplication(text, about: subject)
            }
            application = found
        } else {
            guard applications.count == 1, let only = applications.first else {
                throw Refusal.applicationRequired(among: applications.count, subject)
            }
            application = only
        }
        if let wanted = identity.token.applicationID, wanted != application.id {
            throw Refusal.tokenOfAnotherApp
        }
        return application
    }

    /// A new nonce for the certificate of a connection, and when it expires. Nothing is written, so a flood of requests
    /// costs no storage.
    func issueNonce(_ connection: ClientConnection) -> (nonce: String, expiresAt: Date) {
        let environment = environment
        let expiresAt = environment.now().addingTimeInterval(policy[\.nonces].lifetime)
        let nonce = Nonce.issue(
            randomBytes: environment.randomBytes(16), expiresAt: expiresAt, thumbprint: connection.thumbprint,
            key: keys.nonces)
        return (nonce, expiresAt)
    }
}

extension Provider {
    /// The refusal of a text that is not an `app_id` of this provider. OAuth clients have several other ids.
    func mistakenApplication(_ text: String, about subject: Refusal.Subject) -> Refusal {
        if ProviderID(text[...]) == id { return .providerIDAsApplication(subject) }
        if issuer?.audiences.contains(where: { $0.hasSameBytes(as: text) }) ?? false {
            return .issuerClientAsApplication(subject)
        }
        return .unknownApplication(subject)
    }
}
