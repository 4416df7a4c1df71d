import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service {
    /// A session that a connection uses.
    struct HeldSession: Sendable {
        package let token: Secret<String>
        package let userID: UserID
        let hash: Digest256

        package enum Verdict: Sendable, Equatable {
            case holds
            /// The session must be renewed first.
            case challenged
            /// The session's user is banned.
            case banned
            /// It has ended, is bound to another certificate by now, or the certificate is no longer valid.
            case ended
            /// The store is unavailable, so the state is unknown.
            case unknown
        }
    }

    /// Attaches the session of a token to a connection that uses only this session. Each token is counted as one call
    /// of the device. The connection requests a verdict before each action, before it sends anything, and at intervals.
    ///
    /// - Throws: `Refusal` with the session codes. `binding_mismatch` challenges the session. `user_banned` if a ban
    ///   has ended it. `certificate_revoked`, `rate_limited`, `unavailable`.
    func holdSession(_ shown: String, on connection: ClientConnection) async throws -> HeldSession {
        try await authenticate(connection)
        try count(.read, by: .certificate(connection.thumbprint))
        guard let token = SessionToken(shown: shown) else { throw Refusal.notSessionToken }
        do {
            let (session, cached) = try await boundSession(shown, on: connection)
            let (now, policy) = (environment.now(), policy[\.sessions])
            try session.requireAuthenticated(now: now, policy: policy)
            connection.attach(session)
            cached.touch(now: now, policy: policy, in: caches.lastUses)
            return HeldSession(token: token.text, userID: session.userID, hash: token.hash)
        } catch let refusal as Refusal where refusal.code == .sessionDestroyed {
            if let entry = try await ban(behind: token, on: connection) { throw Refusal.userBanned(by: entry) }
            throw refusal
        }
    }

    /// The verdict from memory alone; `nil` if it is not known there. It is not a use of the session.
    func verdictFromMemory(_ held: HeldSession, on connection: ClientConnection) -> HeldSession.Verdict? {
        guard isAuthenticated(connection), let cached = caches.sessions.known(held.hash) else {
            return nil
        }
        return verdict(cached.session, on: connection)
    }

    /// The verdict from the store.
    func verdict(_ held: HeldSession, on connection: ClientConnection) async -> HeldSession.Verdict {
        do {
            try await authenticate(connection)
            let (now, policy) = (environment.now(), policy[\.sessions])
            guard let token = SessionToken(shown: held.token.reveal()),
                let cached = try await caches.sessions.find(token, now: now, policy: policy)
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

    private func verdict(_ session: Session, on connection: ClientConnection) -> HeldSession.Verdict {
        switch session.effectiveState(at: environment.now(), policy: policy[\.sessions]) {
        case .destroyed, .expired: .ended
        case .challenged: session.thumbprint == connection.thumbprint ? .challenged : .ended
        case .authenticated: session.thumbprint == connection.thumbprint ? .holds : .ended
        }
    }

    /// The ban of an ended session's user, for the device that had the session.
    private func ban(behind token: SessionToken, on connection: ClientConnection) async throws -> BanEntry? {
        guard let cached = try await caches.sessions.find(token.hash, of: token.sessionID),
            cached.session.thumbprint == connection.thumbprint
        else { return nil }
        let user = cached.session.userID
        return try await read { try RefuseBanned.activeBan(on: user, in: $0) }
    }
}
