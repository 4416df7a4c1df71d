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

    init(
        session: Session, token: SessionToken?, address: String, assurance: Assurance, now: Date, policy: SessionPolicy
    ) {
        self.session = session
        self.token = token
        self.address = address
        self.assurance = assurance
        expiresAt = session.expiry(policy: policy)
        lifetime = max(0, Int(saturating: expiresAt.timeIntervalSince(now)))
        idleLifetime = Int(policy.idleLifetime)
    }
}

/// `CreateSession`: a verified identity token becomes a session of its user on this device and connection.
package struct OpenSession: Sendable {
    private let store: any Database
    private let keys: PersonalKeys
    private let verify: VerifyIdentity
    private let bans: RefuseBanned
    private let sessions: SessionCache
    private let policy: CurrentPolicy
    private let rateLimiting: RateLimiting
    private let environment: Environment

    /// Opens sessions in a store.
    package init(
        store: any Database, keys: PersonalKeys, verify: VerifyIdentity, bans: RefuseBanned, sessions: SessionCache,
        policy: CurrentPolicy, rateLimiting: RateLimiting, environment: Environment
    ) {
        self.store = store
        self.keys = keys
        self.verify = verify
        self.bans = bans
        self.sessions = sessions
        self.policy = policy
        self.rateLimiting = rateLimiting
        self.environment = environment
    }

    private typealias Opened = (session: Session, assurance: Assurance, ended: [Digest256])

    /// Opens a session on a judged connection.
    ///
    /// - Parameter applicationID: may be `nil` where the provider has one app.
    /// - Throws: `Refusal` `invalid_identity_token`, `malformed_request`, `rate_limited`, `certificate_revoked`,
    ///   `user_banned`, `unavailable`.
    package func callAsFunction(
        identityToken: String, applicationID: String?, on connection: ClientConnection
    ) async throws -> OpenedSession {
        guard let device = connection.certificate else { throw Refusal(.certificateRevoked, "Connect again.") }
        let policy = policy[\.sessions]
        if rateLimiting == .on {
            try device.countCreation(
                limit: RateLimit(count: policy.createdPerMinute, per: 60), now: environment.now())
        }
        let identity = try await verify(identityToken, on: connection)
        let application = try Self.application(applicationID, of: identity)
        let token = SessionToken(randomBytes: environment.randomBytes(32))
        let sessionID: SessionID = environment.newOrderedIdentifier()
        let newUserID: UserID = environment.newIdentifier()
        let deviceID = device.certificate.deviceID
        let epoch = sessions.epoch

        let admission = try await store.signIn(spending: identity.nonce) {
            transaction -> RefuseBanned.Admission<Opened> in
            let context = try Self.context(
                of: identity, on: connection, deviceID: deviceID, mostSessions: policy.perUserAndDevice,
                in: transaction)
            let now = transaction.now
            let user =
                context.user
                ?? User(
                    id: newUserID, providerID: identity.token.provider, externalID: identity.token.externalID,
                    assurance: .none, createdAt: now)
            if context.user == nil { try UserRepository(transaction).enqueueInsert(user) }
            // The nonce stays spent: the refusal is thrown outside.
            if context.mayUserBeHeld, let hold = try RefuseBanned.ruling(on: user.id, in: transaction) {
                return .banned(user.id, hold, at: now)
            }
            try identity.profile.keep(for: user, keys: keys, in: transaction)
            let session = Session(
                id: sessionID, tokenHash: token.hash, userID: user.id, providerID: user.providerID,
                externalID: user.externalID, applicationID: application.id, deviceID: deviceID,
                thumbprint: connection.thumbprint, providerKeyID: identity.token.keyID, state: .authenticated,
                createdAt: now, renewedAt: now, lastUsedAt: now, challengedAt: nil)
            let ended =
                context.openSessions < policy.perUserAndDevice
                ? [] : try Self.endOldest(before: session, policy: policy, in: transaction)
            try SessionRepository(transaction).insert(session)
            return .admitted((session, user.assurance, ended))
        }
        let (session, assurance, ended) = try bans.requireAdmitted(admission, on: connection)
        // Another process may have ended the session already: then it is not remembered but read at its first use.
        sessions.remember(session, since: epoch)
        for hash in ended { sessions.drop(hash) }
        connection.attach(session)
        return OpenedSession(
            session: session, token: token, address: identity.known.provider.address(of: session.externalID),
            assurance: assurance, now: session.createdAt, policy: policy)
    }

    /// The memories that judged key and certificate may be a moment old: the transaction looks again, so that nothing
    /// opens a session after its revocation was answered. The nonce is spent with it.
    static func context(
        of identity: VerifiedIdentity, on connection: ClientConnection, deviceID: DeviceID, mostSessions: Int,
        in transaction: any Transaction
    ) throws -> SignInRepository.Context {
        let context = try SignInRepository(transaction).context(
            of: SignInRepository.Subject(
                keyID: identity.token.keyID, thumbprint: connection.thumbprint, deviceID: deviceID,
                providerID: identity.token.provider, externalID: identity.token.externalID),
            mostSessions: mostSessions)
        guard context.mayKeyOpenSessions else {
            throw Refusal(
                .invalidIdentityToken, "The key named by kid was retired or its provider was disabled.",
                reason: .keyRetired)
        }
        guard let certificate = context.certificate else {
            throw Refusal(.certificateRevoked, "This service did not issue the certificate: certify the device anew.")
        }
        try certificate.requireValid(at: transaction.now)
        if context.wasDeviceHeld { try RefuseBanned.requireUnbanned(certificate.deviceID, in: transaction) }
        try NonceRepository(transaction).enqueueSpend(identity.nonce)
        return context
    }

    /// Ends the oldest sessions of the user on the device beyond what the policy allows; the hashes of their tokens.
    private static func endOldest(
        before session: Session, policy: SessionPolicy, in transaction: any Transaction
    ) throws -> [Digest256] {
        let records = SessionRepository(transaction)
        let live = try records.listOpen(.user(session.userID)).filter {
            $0.deviceID == session.deviceID && $0.effectiveState(at: session.createdAt, policy: policy) != .expired
        }
        let excess = live.prefix(max(0, live.count + 1 - policy.perUserAndDevice))
        for old in excess {
            try records.end(.session(old.id), at: session.createdAt, reason: "superseded by a newer session")
            try ChangeLog(transaction).announce(.session(old.tokenHash))
        }
        return excess.map(\.tokenHash)
    }

    private static func application(_ text: String?, of identity: VerifiedIdentity) throws(Refusal) -> Application {
        let applications = identity.known.applications
        let application: Application
        if let text {
            guard let id = ApplicationID(text[...]), let found = applications.first(where: { $0.id == id }) else {
                throw Refusal(
                    .malformedRequest, "It names no app of the provider that signed the identity token.",
                    about: .applicationID)
            }
            application = found
        } else {
            guard applications.count == 1, let only = applications.first else {
                throw Refusal(
                    .malformedRequest, "It is missing, and the provider has \(applications.count) apps.",
                    about: .applicationID)
            }
            application = only
        }
        if let wanted = identity.token.applicationID, wanted != application.id {
            throw Refusal(
                .invalidIdentityToken, "app_id in the token names another app than the request.",
                reason: .wrongAudience)
        }
        return application
    }
}

extension Database {
    /// Decides a sign-in, whose nonce is spent with the commit. Where a row was there already, it was the nonce's, or
    /// another sign-in of the same new user was faster: then that user is there when it is decided again.
    ///
    /// - Throws: `Refusal`, `invalid_identity_token` with reason `nonce_used` for a spent nonce.
    func signIn<T: Sendable>(
        spending nonce: Nonce, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        do {
            return try await transaction(body)
        } catch StoreError.constraint(kind: .unique) {
            guard try await !snapshot({ try NonceRepository($0).isSpent(nonce) }) else { throw NonceRepository.used }
            return try await transaction(body)
        }
    }
}
