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
                providerID: token.provider, externalID: token.externalID, nonce: nonce),
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
        if context.mayDeviceBeHeld {
            try RefuseBanned.requireUnbanned(atSignInOn: certificate.deviceID, in: transaction)
        }
        try NonceRepository(transaction).require(
            nonce, generation: context.nonceGeneration, isFormer: context.isFormerNonce)
        return context
    }
}

extension ServiceContext {
    /// Decides a sign-in, whose nonce is spent with the commit. Where a row was there already, it was the nonce's, or
    /// another sign-in of the same new user was faster: then that user is there when it is decided again.
    ///
    /// - Throws: `Refusal`, `invalid_identity_token` with reason `nonce_used` for a spent nonce.
    func signIn<T: Sendable>(
        spending nonce: Nonce,
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        do {
            return try await commit(body)
        } catch StoreError.constraint(kind: .unique) {
            guard try await !store.snapshot({ try NonceRepository($0).isSpent(nonce) }) else {
                throw NonceRepository.used
            }
            return try await commit(body)
        }
    }
}
