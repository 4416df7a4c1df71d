import Database
import Domain
import Encoding
import Foundation
import Repositories

package extension Service {
    /// Returns the session of a token if it is authenticated. Every protected action calls this.
    ///
    /// - Throws: `Refusal` with the session codes of the contract.
    func checkSession(_ shown: String, on connection: ClientConnection) async throws -> Session {
        let (session, cached) = try await boundSession(shown, on: connection)
        let policy = policy[\.sessions]
        let now = environment.now()
        try session.requireAuthenticated(now: now, policy: policy)
        if !connection.isAttached(session.id) {
            guard policy.attach == .implicit else {
                throw Refusal.sessionNotAttached
            }
            connection.attach(session)
        }
        cached.touch(now: now, policy: policy, in: caches.lastUses)
        return session
    }

    /// Returns the session of a token from memory alone; `nil` if the call would be refused, needs the store, or must
    /// attach the session. Then ``checkSession(_:on:)`` decides.
    func sessionFromMemory(_ tokenHash: Digest256, on connection: ClientConnection) -> Session? {
        guard let cached = caches.sessions.known(tokenHash) else { return nil }
        let policy = policy[\.sessions]
        let now = environment.now()
        let session = cached.session
        // A pattern compares the case. `==` of another module's type would be looked up at run time.
        guard case .authenticated = session.effectiveState(at: now, policy: policy),
            session.thumbprint == connection.thumbprint, connection.isAttached(session.id)
        else { return nil }
        cached.touch(now: now, policy: policy, in: caches.lastUses)
        return session
    }

    /// The rules of sessions in force, for the fast path: in another module the key path would be read at run time.
    var sessionPolicy: SessionPolicy { policy[\.sessions] }
}

extension Service {
    /// Finds a session whose token is shown to resume, renew or end it: not ended, bound to this device, possibly
    /// challenged.
    func boundSession(_ shown: String, on connection: ClientConnection) async throws -> (Session, CachedSession) {
        let now = environment.now()
        let policy = policy[\.sessions]
        guard let token = SessionToken(shown: shown) else { throw Refusal.notSessionToken }
        guard let cached = try await caches.sessions.find(token, now: now, policy: policy)
        else {
            throw Refusal.sessionEnded
        }
        let session = cached.session
        ProvenParties.note(session, on: connection)
        switch session.effectiveState(at: now, policy: policy) {
        case .destroyed: throw Refusal.sessionEnded
        case .expired: throw Refusal.sessionExpired
        case .authenticated, .challenged: break
        }
        guard session.thumbprint == connection.thumbprint else {
            try await recordMismatch(of: session, on: connection)
            throw Refusal.sessionOfAnotherDevice
        }
        return (session, cached)
    }

    /// A valid token with another certificate was stolen or copied. The session is challenged.
    private func recordMismatch(of session: Session, on connection: ClientConnection) async throws {
        let actor = connection.certificate.map { "device \($0.certificate.deviceID)" } ?? "unknown device"
        try await write { transaction, events in
            guard try SessionRepository(transaction).challenge(.session(session.id), at: transaction.now) > 0 else {
                return
            }
            events.record(.bindingMismatched(session), by: actor)
        }
    }
}
