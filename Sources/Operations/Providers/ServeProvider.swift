import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// What a provider may learn and end: only of its own users and sessions, never a name, a number or an address.
package struct ServeProvider: Sendable {
    private let realm: String
    private let store: any Database
    private let keys: PersonalKeys
    private let sessions: SessionCache
    private let nonceKey: NonceKey
    private let policy: CurrentPolicy
    private let environment: Environment

    package init(
        realm: String, store: any Database, keys: PersonalKeys, sessions: SessionCache, nonceKey: NonceKey,
        policy: CurrentPolicy, environment: Environment
    ) {
        self.realm = realm
        self.store = store
        self.keys = keys
        self.sessions = sessions
        self.nonceKey = nonceKey
        self.policy = policy
        self.environment = environment
    }

    /// A session and its user's level, as introspection shows them (RFC 7662 §2.2).
    package struct Introspection: Sendable {
        package let session: Session
        /// When it ends at the latest.
        package let expiresAt: Date
        /// How far its user is verified.
        package let assurance: Assurance
    }

    /// Looks at a session token; `nil` for anything that is not the provider's own Authenticated session. Not an
    /// activity: the idle clock goes on.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` if the caller's key was revoked since it proved itself.
    package func introspect(_ token: String, for caller: ProvenProvider) async throws -> Introspection? {
        let session = try await own(token, of: caller.id)
        // The caller may have held back its body for as long as a request may take.
        let user = try await store.snapshot { transaction in
            try caller.requireActive(in: transaction)
            return try session.flatMap { try UserRepository(transaction).find($0.userID) }
        }
        let policy = policy[\.sessions]
        guard let session, session.effectiveState(at: environment.now(), policy: policy) == .authenticated else {
            return nil
        }
        return Introspection(
            session: session, expiresAt: session.expiry(policy: policy), assurance: user?.assurance ?? .none)
    }

    /// Ends a session by its token (RFC 7009); a token that is unknown or another's is no error.
    package func revoke(_ token: String, for caller: ProvenProvider) async throws {
        guard let session = try await own(token, of: caller.id) else { return }
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            try caller.requireActive(in: transaction)
            let ended = try SessionRepository(transaction).end(
                .session(session.id), at: transaction.now, reason: "ended by its provider")
            guard ended > 0 else { return }
            try AuditRepository(transaction).append(
                .sessionEnded, subject: "session \(session.id)", actor: "provider \(caller.id)",
                reason: "provider_logout", id: auditID)
            try ChangeLog(transaction).announce(.session(session.tokenHash))
        }
        sessions.drop(session.tokenHash)
    }

    /// One of the provider's users.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func user(_ externalID: String, of provider: ProviderID) async throws -> User {
        guard (1...256).contains(externalID.utf8.count), !externalID.utf8.contains(0),
            let user = try await store.snapshot({
                try UserRepository($0).find(providerID: provider, externalID: externalID)
            })
        else { throw Refusal(.notFound, "The provider has no such user here.") }
        return user
    }

    /// What a verified identity lets a provider know of its user: nothing that would name a person.
    package struct Known: Sendable {
        package let user: User
        /// Whether the user is of an age; `nil` where no identity is verified.
        package let isOver: @Sendable (_ years: Int) -> Bool?
        /// The first letters of first and last name; `nil` where no identity is verified.
        package let initials: String?
    }

    /// One of the provider's users, as far as providers may know them. What a card proved is told while the level holds
    /// that the card gave.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func known(_ externalID: String, of provider: ProviderID) async throws -> Known {
        let user = try await user(externalID, of: provider)
        let today = CalendarDate(utcDayOf: environment.now())
        let proved =
            user.assurance >= .barcode
            ? try await store.snapshot { try AuthenticatedUserRepository($0, keys: keys).find(user.id) } : nil
        let age = proved?.age(on: today)
        return Known(user: user, isOver: { years in age.map { $0 >= years } }, initials: proved?.initials)
    }

    /// Whether one of the provider's users is kept from signing in.
    package func isBanned(_ user: User) async throws -> Bool {
        try await store.snapshot { try RefuseBanned.ruling(on: user.id, in: $0) } != nil
    }

    /// Logs a user out everywhere.
    package func endSessions(of externalID: String, at caller: ProvenProvider) async throws {
        let user = try await user(externalID, of: caller.id)
        let auditID = environment.newUUID()
        try await store.transaction { transaction in
            try caller.requireActive(in: transaction)
            let ended = try SessionRepository(transaction).end(
                .user(user.id), at: transaction.now, reason: "ended by its provider")
            guard ended > 0 else { return }
            try AuditRepository(transaction).append(
                .sessionEnded, subject: "user \(user.id)", actor: "provider \(caller.id)",
                detail: "\(ended) sessions ended", reason: "provider_logout", id: auditID)
            try ChangeLog(transaction).announce(.user(user.id))
        }
        sessions.drop { $0.userID == user.id }
    }

    /// Every defect of an identity token at once; creates and spends nothing. Of another provider's token it says
    /// `unknown_issuer` only.
    ///
    /// - Throws: `Refusal` `provider_token_invalid` if the caller's key was revoked since it proved itself.
    package func check(_ identityToken: String, for caller: ProvenProvider) async throws -> TokenCheckResult {
        try await store.snapshot { try caller.requireActive(in: $0) }
        let known = caller.known
        let verifier = IdentityTokenVerifier(realm: realm, policy: policy[\.identityTokens])
        let now = environment.now()
        let check = verifier.check(identityToken, provider: known.provider, keys: Array(known.keys.values), now: now)
        var defects = check.defects.map { (reason: $0.reason, detail: $0.detail) }
        if let nonce = check.nonce { defects += try await nonceDefects(nonce, now: now) }
        return TokenCheckResult(defects: defects, clockSkew: check.clockSkew)
    }

    /// The device is not at hand here, so a nonce is judged for its origin, its age and its use alone.
    private func nonceDefects(_ text: String, now: Date) async throws -> [(reason: Refusal.Reason, detail: String)] {
        guard let nonce = Nonce(issuedHere: text, key: nonceKey) else {
            return [(.nonceUnknown, "This service did not issue the nonce in nce.")]
        }
        if nonce.expiresAt <= now {
            let late = Int(saturating: now.timeIntervalSince(nonce.expiresAt).rounded(.up))
            return [(.nonceExpired, "The nonce in nce expired \(late) s ago.")]
        }
        let isSpent = try await store.snapshot { try NonceRepository($0).isSpent(nonce) }
        return isSpent ? [(.nonceUsed, "The nonce in nce was used before.")] : []
    }

    private func own(_ token: String, of provider: ProviderID) async throws -> Session? {
        guard let shown = SessionToken(shown: token),
            let live = try await sessions.find(shown.hash, now: environment.now(), policy: policy[\.sessions]),
            live.session.providerID == provider
        else { return nil }
        return live.session
    }
}

/// What a token check found.
package struct TokenCheckResult: Sendable {
    /// Every defect: the contract's reason and a sentence.
    package let defects: [(reason: Refusal.Reason, detail: String)]
    /// The token's `iat` minus this server's clock, seconds; `nil` where there is none to measure.
    package let clockSkew: Int?
}
