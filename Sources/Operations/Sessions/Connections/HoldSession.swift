import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Attaches a session to a connection that acts for it alone, and judges it there again and again: before each act,
/// before anything is sent, and now and then.
package struct HoldSession: Sendable {
    private let context: ServiceContext
    private let check: CheckSession
    private let authenticate: AuthenticateConnection

    package init(_ context: ServiceContext) {
        self.context = context
        check = CheckSession(context)
        authenticate = AuthenticateConnection(context)
    }

    /// A session that a connection acts for.
    package struct Held: Sendable {
        package let token: Secret<String>
        package let userID: UserID
        let hash: Digest256
    }

    package enum Verdict: Sendable, Equatable {
        case holds
        /// It must prove its user again.
        case challenged
        /// Its user is banned.
        case banned
        /// It has ended, or is bound to another certificate by now; or the certificate is valid no more.
        case ended
        /// The store cannot be asked.
        case unknown
    }

    /// Attaches the session that a token names. Each token that is shown counts as a call of the device.
    ///
    /// - Throws: `Refusal` with the session codes. `binding_mismatch` challenges the session. `user_banned` where a ban
    ///   has ended it. `certificate_revoked`, `rate_limited`, `unavailable`.
    package func callAsFunction(_ shown: String, on connection: ClientConnection) async throws -> Held {
        try await authenticate(connection)
        try context.count(.read, by: .certificate(connection.thumbprint))
        guard let token = SessionToken(shown: shown) else { throw Self.unknown }
        do {
            let (session, cached) = try await check.bound(shown, on: connection)
            let (now, policy) = (context.environment.now(), context.policy[\.sessions])
            try session.requireAuthenticated(now: now, policy: policy)
            connection.attach(session)
            cached.touch(now: now, policy: policy, in: context.caches.lastUses)
            return Held(token: token.text, userID: session.userID, hash: token.hash)
        } catch let refusal as Refusal where refusal.code == .sessionDestroyed {
            if let entry = try await ban(behind: token, on: connection) { throw Refusal.userBanned(by: entry) }
            throw refusal
        }
    }

    private static let unknown = Refusal(.sessionDestroyed, "The session was ended: create a new one.")

    /// Judges from memory alone. It is no use of the session. `nil` where memory does not know.
    package func fromMemory(_ held: Held, on connection: ClientConnection) -> Verdict? {
        guard authenticate.fromMemory(connection), let cached = context.caches.sessions.known(held.hash) else {
            return nil
        }
        return verdict(cached.session, on: connection)
    }

    /// Judges by the store, where memory does not know.
    package func judge(_ held: Held, on connection: ClientConnection) async -> Verdict {
        do {
            try await authenticate(connection)
            let (now, policy) = (context.environment.now(), context.policy[\.sessions])
            guard let token = SessionToken(shown: held.token.reveal()),
                let cached = try await context.caches.sessions.find(token, now: now, policy: policy)
            else { return .ended }
            let verdict = verdict(cached.session, on: connection)
            guard verdict == .ended, try await ban(behind: token, on: connection) != nil else { return verdict }
            return .banned
        } catch let refusal as Refusal where refusal.code == .certificateRevoked {
            return .ended
        } catch {
            return .unknown
        }
    }

    private func verdict(_ session: Session, on connection: ClientConnection) -> Verdict {
        switch session.effectiveState(at: context.environment.now(), policy: context.policy[\.sessions]) {
        case .destroyed, .expired: .ended
        case .challenged: session.thumbprint == connection.thumbprint ? .challenged : .ended
        case .authenticated: session.thumbprint == connection.thumbprint ? .holds : .ended
        }
    }

    /// The ban of the user of an ended session, for the device that had it.
    private func ban(behind token: SessionToken, on connection: ClientConnection) async throws -> BanEntry? {
        guard let cached = try await context.caches.sessions.find(token.hash, of: token.sessionID),
            cached.session.thumbprint == connection.thumbprint
        else { return nil }
        let user = cached.session.userID
        return try await context.store.snapshot { try RefuseBanned.activeBan(on: user, in: $0) }
    }
}
