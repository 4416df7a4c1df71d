import Database
import Domain
import Foundation
import Repositories
import Tokens

extension VerifiedIdentity {
    /// The transaction reads key and certificate again, because the caches that verified them may be a moment old. So
    /// no session is opened after a revocation was confirmed. A caller that continues spends the nonce.
    func signInContext(
        on connection: ClientConnection, deviceID: DeviceID, mostSessions: Int, in transaction: any Transaction
    ) throws -> SignInRepository.Context {
        let context = try SignInRepository(transaction).context(
            of: SignInRepository.Subject(
                keyID: token.keyID, thumbprint: connection.thumbprint, deviceID: deviceID,
                providerID: token.provider, externalID: token.externalID),
            mostSessions: mostSessions)
        guard context.mayKeyOpenSessions else {
            throw Refusal.keyRetired
        }
        guard let certificate = context.certificate else {
            throw Refusal.certificateUnknown
        }
        try certificate.requireValid(at: transaction.now)
        if context.mayDeviceBeBanned {
            try RefuseBanned.requireUnbanned(atSignInOn: certificate.deviceID, in: transaction)
        }
        try NonceRepository(transaction).require(nonce, generation: context.nonceGeneration)
        return context
    }
}

extension Service {
    /// Opens a session in one statement that shares a transaction with other sign-ins; `nil` if a separate transaction
    /// must decide.
    ///
    /// - Parameter old: the session that the same statement ends.
    /// - Throws: `Refusal` `unavailable`.
    func openAtOnce(
        _ draft: Session, _ identity: VerifiedIdentity, insteadOf old: Session? = nil
    ) async throws -> (Session, Assurance)? {
        let opening = SessionOpening(
            draft, spending: identity.nonce, mostSessions: policy[\.sessions].perUserAndDevice)
        let opened = try await share {
            guard let old else { return try await opening(in: $0) }
            return try await SessionReplacement(opening, insteadOf: old)(in: $0)
        } events: { opened in
            let ended = old.map { DomainEvent.sessionEnded(EndedSession($0), .superseded) }
            return [ended, .sessionOpened(opened.session)].compactMap(\.self)
        }
        guard let opened else { return nil }
        let (profile, user, keys) = (identity.profile, opened.user, keys.personal)
        if profile.newIndex(for: user, keys: keys) != nil {
            // The session is open whatever the result: the next sign-in tries again. Nothing is stored for a user who
            // was erased meanwhile, whose sessions have ended.
            _ = try? await write { transaction, _ in
                let state = try SessionRepository(transaction).find(opened.session.id)?.state
                guard state == .authenticated else { return }
                try profile.keep(for: user, keys: keys, in: transaction)
            }
        }
        return (opened.session, user.assurance)
    }

    /// Decides a sign-in, whose nonce is spent with the commit. If a row existed already, either the nonce was spent,
    /// or another sign-in of the same new user was faster. Then the user exists in the second decision.
    ///
    /// - Throws: `Refusal`, `invalid_identity_token` with reason `nonce_used` for a spent nonce.
    func signIn<T: Sendable>(
        spending nonce: Nonce, inTurn turn: Turn? = nil,
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        do {
            return try await write(inTurn: turn, body)
        } catch StoreError.constraint(kind: .unique) {
            guard try await !read({ try NonceRepository($0).isSpent(nonce) }) else {
                throw Refusal.nonceUsed
            }
            return try await write(inTurn: turn, body)
        }
    }
}
