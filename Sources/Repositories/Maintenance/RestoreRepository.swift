import Database
import Domain
import Foundation

/// What a restored store must not bring back, and what of the store that it replaces must not be lost. Across tables,
/// since it is one act.
package struct RestoreRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Ends every session; how many there were.
    package func endAllSessions() throws -> Int {
        try transaction.execute(
            """
            UPDATE sessions SET state = 'unauthenticated', challenged_at = NULL, ended_at = $1,
                end_reason = 'the store was restored'
            WHERE state <> 'unauthenticated'
            """, [.time(transaction.now)])
    }

    /// Takes everything out of the outbox that was not sent; how many messages there were.
    package func dropUnsentMessages() throws -> Int {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'dropped', ended_at = $1, payload = $2, reason = 'the store was restored',
                lease = NULL, leased_until = NULL
            WHERE state IN ('waiting', 'dead')
            """, [.time(transaction.now), .bytes([])])
    }

    /// Ends every phone verification: how often its code was tried since is not known.
    package func endPhoneVerifications() throws {
        try transaction.execute(
            "UPDATE phone_verifications SET expires_at = $1 WHERE verified_at IS NULL AND expires_at > $1",
            [.time(transaction.now)])
    }

    /// The generation that nonces are made in; part of what their key is derived from.
    package func nonceGeneration() throws -> String {
        try transaction.first("SELECT value FROM generations WHERE name = 'nonces'")?.text(0) ?? ""
    }

    /// Begins a generation of nonces: those of earlier ones are not recognized any more.
    ///
    /// - Parameter name: random, since a backup may be restored more than once.
    package func beginNonceGeneration(_ name: UUID) throws {
        try transaction.execute(
            """
            INSERT INTO generations (name, value) VALUES ('nonces', $1)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, [.text(Identifier<RestoreRepository>(name).description)])
    }

    /// The users who were erased at some time, by their keys and by the audit log: with what the log calls the act.
    package func erasures() throws -> [(user: UserID, entry: String?)] {
        let keys = try transaction.query("SELECT user_id FROM data_keys WHERE erased_at IS NOT NULL")
        let entries = try transaction.query(
            "SELECT subject, id FROM audit_entries WHERE event = $1 ORDER BY at, id",
            [.text(AuditRepository.Event.userErased.rawValue)])
        return try keys.map { (try $0.id(0), nil) }
            + entries.compactMap { row in
                guard let user = UserID(try row.text(0).dropFirst("user ".count)) else { return nil }
                return (user, try row.text(1))
            }
    }

    /// Whether the audit log has an entry.
    package func hasAuditEntry(_ id: String) throws -> Bool {
        try transaction.first("SELECT 1 FROM audit_entries WHERE id = $1", [.text(id)]) != nil
    }

    /// Every provider key that was retired or revoked.
    package func endedProviderKeys() throws -> [(id: ProviderKeyID, retiredAt: Date?, revokedAt: Date?)] {
        try transaction.query(
            "SELECT id, retired_at, revoked_at FROM provider_keys WHERE retired_at IS NOT NULL OR revoked_at IS NOT NULL"
        ).map { (try $0.id(0), try $0.timeOrNull(1), try $0.timeOrNull(2)) }
    }

    /// Ends a provider key as it was ended elsewhere; `false` where it is unknown or ended so already.
    package func end(_ id: ProviderKeyID, retiredAt: Date?, revokedAt: Date?) throws -> Bool {
        try transaction.execute(
            """
            UPDATE provider_keys SET retired_at = COALESCE(retired_at, $2), revoked_at = COALESCE(revoked_at, $3)
            WHERE id = $1 AND ((retired_at IS NULL AND CAST($2 AS BIGINT) IS NOT NULL)
                OR (revoked_at IS NULL AND CAST($3 AS BIGINT) IS NOT NULL))
            """, [.id(id), .time(retiredAt), .time(revokedAt)]) > 0
    }

    /// The identifiers of one-time tokens that were spent and could still be shown again.
    package func spentIdentifiers() throws -> [(identifier: String, expiresAt: Date)] {
        try transaction.query(
            "SELECT identifier, expires_at FROM spent_identifiers WHERE expires_at > $1", [.time(transaction.now)]
        ).map { (try $0.text(0), try $0.time(1)) }
    }

    /// Spends an identifier as it was spent elsewhere.
    package func spend(_ identifier: String, until expiry: Date) throws {
        try transaction.execute(
            "INSERT INTO spent_identifiers (identifier, expires_at) VALUES ($1, $2) ON CONFLICT (identifier) DO NOTHING",
            [.text(identifier), .time(expiry)])
    }
}
