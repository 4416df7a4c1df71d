import Database
import Domain
import Foundation
import Repositories
import Tokens

extension VerifiedIdentity {
    /// The memories by which key and certificate were verified may be a moment old: the transaction looks again, so that
    /// nothing opens a session after its revocation was answered. Whoever goes on spends the nonce.
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
    /// Opens a session in one statement, which other sign-ins share a transaction with; `nil` if a transaction of its own is to
    /// decide.
    ///
    /// - Parameter old: what is ended by the same statement.
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
            // The session stands whatever becomes of this: the next sign-in tries again. Nothing is kept of a user who was
            // erased meanwhile, whose sessions have ended.
            _ = try? await write { transaction, _ in
                let state = try SessionRepository(transaction).find(opened.session.id)?.state
                guard state == .authenticated else { return }
                try profile.keep(for: user, keys: keys, in: transaction)
            }
        }
        return (opened.session, user.assurance)
    }

    /// Decides a sign-in, whose nonce is spent with the commit. Where a row was there already, it was the nonce's, or
    /// another sign-in of the same new user was faster: then that user is there when it is decided again.
    ///
    /// - Throws: `Refusal`, `invalid_identity_token` with reason `nonce_used` for a spent nonce.
    func signIn<T: Sendable>(
        spending nonce: Nonce,
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        do {
            return try await write(body)
        } catch StoreError.constraint(kind: .unique) {
            guard try await !read({ try NonceRepository($0).isSpent(nonce) }) else {
                throw Refusal.nonceUsed
            }
            return try await write(body)
        }
    }
}
