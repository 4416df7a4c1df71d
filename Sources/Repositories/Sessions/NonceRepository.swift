import Database
import Domain
import Encoding
import Foundation

/// Spent nonces, and `jti` of one-time tokens, which must not be accepted again.
///
/// A nonce is spent by the row of `sessions` whose id is derived from it: the session that it opens, or an ended one.
/// The primary key refuses a second use.
package struct NonceRepository {
    private let transaction: any Transaction

    /// The store's generation of nonces, as an expression.
    static let generation = "(SELECT value FROM generations WHERE name = 'nonces')"

    /// Whether a nonce can be spent, as an expression: it has not expired, and its row is kept until it has.
    static func isUnexpired(_ expiry: String, at now: String) -> String {
        "\(expiry) > \(now) AND \(expiry) <= \(now) + \(Int64(NoncePolicy.longestRemainder * 1_000))"
    }

    /// Spends an identifier in its stored form; `false` if it was spent before.
    func spend(_ stored: String, until expiry: Date) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO spent_identifiers (\(Self.identifiers)) VALUES (\(Self.identifiers.placeholders))
            ON CONFLICT (identifier) DO NOTHING
            """, Self.identifiers.row(stored, expiry)) > 0
    }

    /// The spent identifiers that have not expired.
    func spentIdentifiers() throws -> [(identifier: String, expiresAt: Date)] {
        try transaction.query(
            "SELECT \(Self.identifiers) FROM spent_identifiers WHERE expires_at > $1", [.time(transaction.now)]
        ).map(Self.identifiers.read)
    }
}

package extension NonceRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Spends a nonce in this transaction, by the store's clock, for a purpose other than opening a session.
    ///
    /// - Parameter holder: the session in which it is spent.
    /// - Throws: `Refusal` `invalid_identity_token` with reason `nonce_expired` or `nonce_used`, `unavailable` after a
    ///   restore while this process ran.
    func spend(_ nonce: Nonce, of holder: Session) throws {
        try requireUnexpired(nonce)
        let spent = Session(spending: nonce, of: holder, at: transaction.now)
        let generation: String? = try transaction.value("SELECT \(Self.generation)")
        guard generation == nonce.generation else { throw Refusal.storeRestored }
        guard try SessionRepository(transaction).insertEnded(spent) else { throw Refusal.nonceUsed }
    }

    /// Spends a nonce that no session opens or holds; `false` if it was spent before.
    ///
    /// - Parameter purpose: the word under which it is remembered, so that it is of no other use.
    /// - Throws: `Refusal` `invalid_identity_token` with reason `nonce_expired`, `unavailable` after a restore while this
    ///   process ran.
    func spend(_ nonce: Nonce, for purpose: String) throws -> Bool {
        let generation: String? = try transaction.value("SELECT \(Self.generation)")
        try require(nonce, generation: generation ?? "")
        return try spend("\(purpose) \(nonce.spentText)", until: nonce.expiresAt)
    }

    /// Refuses a nonce that has expired, one that expires after its row would be deleted, and one of a process that
    /// missed a restore.
    ///
    /// - Parameter generation: the store's generation of nonces, as this transaction reads it.
    /// - Throws: `Refusal` `invalid_identity_token` with reason `nonce_expired`, `unavailable` after a restore while
    ///   this process ran.
    func require(_ nonce: Nonce, generation: String) throws(Refusal) {
        guard nonce.generation == generation else { throw Refusal.storeRestored }
        try requireUnexpired(nonce)
    }

    private static let identifiers = ColumnTuple(Column<String>("identifier"), Column<Date>("expires_at"))
    private func requireUnexpired(_ nonce: Nonce) throws(Refusal) {
        let now = transaction.now
        guard nonce.expiresAt.timeIntervalSince(now) <= NoncePolicy.longestRemainder else {
            throw Refusal.nonceOfWrongClock
        }
        guard now < nonce.expiresAt else {
            let late = Int(saturating: now.timeIntervalSince(nonce.expiresAt).rounded(.up))
            throw Refusal.nonceExpired(secondsAgo: late)
        }
    }

    func isSpent(_ nonce: Nonce) throws -> Bool {
        try transaction.first("SELECT 1 FROM sessions WHERE id = $1", [.id(nonce.sessionID)]) != nil
    }

    /// Spends a one-time token's `jti` within its issuer's namespace; `false` if it was spent before.
    func spend(identifier: String, of issuer: ProviderID, until expiry: Date) throws -> Bool {
        try spend("\(issuer)/\(identifier)", until: expiry)
    }

    private static let oldIdentifiers = AgedRows(of: "spent_identifiers", key: "identifier", age: "expires_at")

    /// Deletes identifiers that expired before a time. Tokens with them are refused as expired.
    @discardableResult
    func purgeIdentifiers(
        expiredBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.oldIdentifiers.take(before: moment, batch, in: transaction)
    }
}
