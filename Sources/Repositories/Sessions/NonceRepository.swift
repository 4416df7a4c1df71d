import Database
import Domain
import Encoding
import Foundation

/// What was spent and must not be accepted again: nonces of sessions, `jti` of one-time tokens.
package struct NonceRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Spends a nonce in this transaction, by the store's clock.
    ///
    /// A nonce's own expiry is part of it (its code covers both), and leads the key: nonces that are spent at about
    /// the same time lie together, which makes spending cheap and forgetting too.
    ///
    /// - Throws: `Refusal` `invalid_identity_token` with reason `nonce_expired` or `nonce_used`, `unavailable` after a
    ///   restore under this process.
    package func spend(_ nonce: Nonce) throws {
        try requireUnexpired(nonce)
        let spent = try transaction.execute(
            """
            INSERT INTO spent_nonces (\(Self.nonces.all)) SELECT \(Self.nonces.placeholders)
            WHERE \(Self.generation) = $3 ON CONFLICT (expires_at, nonce) DO NOTHING
            """, Self.values(of: nonce) + [.text(nonce.generation)])
        guard spent == 0 else { return }
        guard try isSpent(nonce) else { throw Self.restored }
        throw Self.used
    }

    /// Spends a nonce with the commit. One that was spent before fails the body with `StoreError.constraint` `unique`:
    /// looking first would have every two sign-ins of the same moment disturb each other, since they look at the same
    /// end of the table.
    ///
    /// - Parameter generation: the store's generation of nonces, as this transaction reads it.
    /// - Throws: `Refusal` `invalid_identity_token` with reason `nonce_expired`, `unavailable` after a restore under this
    ///   process.
    package func enqueueSpend(_ nonce: Nonce, generation: String) throws {
        guard nonce.generation == generation else { throw Self.restored }
        try requireUnexpired(nonce)
        try transaction.enqueue(Self.insertion, Self.values(of: nonce))
    }

    /// The refusal of a nonce that was spent before.
    package static let used = Refusal(
        .invalidIdentityToken, "The nonce in nce was used before: take a new one and sign again.", reason: .nonceUsed)

    /// The refusal of a process that was halted while the store was restored: it knows the nonces of before, of which the
    /// store no longer tells which were spent.
    private static let restored = Refusal(
        .unavailable, "The store was restored under this node; nothing was changed. Ask another node.", retryAfter: 5)

    /// The store's generation of nonces, as an expression.
    static let generation = "(SELECT value FROM generations WHERE name = 'nonces')"

    private static let nonces = Selection(NonceColumns.self)
    private static let identifiers = ColumnTuple(Column<String>("identifier"), Column<Date>("expires_at"))
    private static let insertion = "INSERT INTO spent_nonces (\(nonces.all)) VALUES (\(nonces.placeholders))"

    private static func values(of nonce: Nonce) -> [Value] { nonces.row { $0.write(nonce, to: &$1) } }

    private func requireUnexpired(_ nonce: Nonce) throws(Refusal) {
        let now = transaction.now
        guard now < nonce.expiresAt else {
            let late = Int(saturating: now.timeIntervalSince(nonce.expiresAt).rounded(.up))
            throw Refusal(
                .invalidIdentityToken, "The nonce in nce expired \(late) s ago: take a new one and sign again.",
                reason: .nonceExpired)
        }
    }

    /// Whether a nonce was spent.
    package func isSpent(_ nonce: Nonce) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM spent_nonces WHERE nonce = $1 AND expires_at = $2",
            [.bytes(nonce.randomBytes), .time(nonce.expiresAt)]) != nil
    }

    /// Spends a one-time token's `jti` within its issuer's name space; `false` if it was spent before.
    package func spend(identifier: String, of issuer: ProviderID, until expiry: Date) throws -> Bool {
        try spend("\(issuer)/\(identifier)", until: expiry)
    }

    /// Spends an identifier as it is stored; `false` if it was spent before.
    package func spend(_ stored: String, until expiry: Date) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO spent_identifiers (\(Self.identifiers)) VALUES (\(Self.identifiers.placeholders))
            ON CONFLICT (identifier) DO NOTHING
            """, Self.identifiers.row(stored, expiry)) > 0
    }

    /// The identifiers that were spent and could still be shown again.
    package func spentIdentifiers() throws -> [(identifier: String, expiresAt: Date)] {
        try transaction.query(
            "SELECT \(Self.identifiers) FROM spent_identifiers WHERE expires_at > $1", [.time(transaction.now)]
        ).map(Self.identifiers.read)
    }

    private static let oldNonces = AgedRows(of: "spent_nonces", key: "expires_at, nonce", age: "expires_at")
    private static let oldIdentifiers = AgedRows(of: "spent_identifiers", key: "identifier", age: "expires_at")

    /// Forgets nonces that expired before a moment: a forgotten one is refused for its age.
    @discardableResult
    package func purge(
        expiredBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.oldNonces.take(before: moment, batch, in: transaction)
    }

    /// The same for identifiers.
    @discardableResult
    package func purgeIdentifiers(
        expiredBefore moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.oldIdentifiers.take(before: moment, batch, in: transaction)
    }
}

/// The columns of `spent_nonces`.
private struct NonceColumns: ColumnSet {
    let nonce: Column<[UInt8]>
    let expiresAt: Column<Date>

    init(_ list: inout ColumnList) {
        nonce = list.add("nonce")
        expiresAt = list.add("expires_at")
    }

    func write(_ spent: Nonce, to row: inout NewRow) {
        row.set(nonce, spent.randomBytes)
        row.set(expiresAt, spent.expiresAt)
    }
}
