import Database
import Foundation
import Identity

/// What was spent and must not be accepted again: nonces of sessions, `jti` of one-time tokens.
public struct NonceRecords {
    private let transaction: any Transaction

    /// Works inside a transaction.
    public init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Spends a nonce in this transaction, judged by the store's clock.
    ///
    /// A nonce's own expiry is part of it (its code covers both), and leads the key: nonces that are spent at about
    /// the same time lie together, which makes spending cheap and forgetting too.
    ///
    /// - Throws: ``Refusal`` `invalid_identity_token` with reason `nonce_expired` or `nonce_used`.
    public func spend(_ nonce: Nonce) throws {
        try spend(nonce, isSpent: try isSpent(nonce))
    }

    /// Spends a nonce of which this transaction has read whether it was spent: the row's key keeps two transactions that
    /// read the same from both being kept.
    ///
    /// - Throws: ``Refusal`` like ``spend(_:)``.
    public func spend(_ nonce: Nonce, isSpent: Bool) throws {
        let now = transaction.now
        guard now < nonce.expiresAt else {
            let late = Int(now.timeIntervalSince(nonce.expiresAt).rounded(.up))
            throw Refusal(
                .invalidIdentityToken, "The nonce in nce expired \(late) s ago: take a new one and sign again.",
                reason: "nonce_expired")
        }
        guard !isSpent else {
            throw Refusal(
                .invalidIdentityToken, "The nonce in nce was used before: take a new one and sign again.",
                reason: "nonce_used")
        }
        try transaction.executeLater(
            "INSERT INTO spent_nonces (nonce, expires_at) VALUES ($1, $2)",
            [.bytes(nonce.randomBytes), .time(nonce.expiresAt)])
    }

    /// Whether a nonce was spent.
    public func isSpent(_ nonce: Nonce) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM spent_nonces WHERE nonce = $1 AND expires_at = $2",
            [.bytes(nonce.randomBytes), .time(nonce.expiresAt)]) != nil
    }

    /// Spends a one-time token's `jti` within its issuer's name space; `false` where it was spent before.
    public func spend(identifier: String, of issuer: ProviderID, until expiry: Date) throws -> Bool {
        try transaction.execute(
            "INSERT INTO spent_identifiers (identifier, expires_at) VALUES ($1, $2) ON CONFLICT (identifier) DO NOTHING",
            [.text("\(issuer)/\(identifier)"), .time(expiry)]) > 0
    }

    /// Forgets what expired before a moment: a forgotten nonce is refused for its age.
    public func purge(expiredBefore moment: Date) throws {
        try transaction.execute("DELETE FROM spent_nonces WHERE expires_at < $1", [.time(moment)])
        try transaction.execute("DELETE FROM spent_identifiers WHERE expires_at < $1", [.time(moment)])
    }
}
