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

    private static let generation = ColumnTuple(Column<String>("name"), Column<String>("value"))

    /// The generation that nonces are made in; part of what their key is derived from.
    package func nonceGeneration() throws -> String {
        try transaction.value("SELECT value FROM generations WHERE name = 'nonces'") ?? ""
    }

    /// Begins a generation of nonces: those of earlier ones are not recognized any more.
    ///
    /// - Parameter name: random, since a backup may be restored more than once.
    package func beginNonceGeneration(_ name: UUID) throws {
        try transaction.execute(
            """
            INSERT INTO generations (\(Self.generation)) VALUES (\(Self.generation.placeholders))
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, Self.generation.row("nonces", Identifier<RestoreRepository>(name).description))
    }

    /// The users who were erased at some time, by their keys and by the audit log: with what the log calls the act.
    package func erasures() throws -> [(user: UserID, entry: String?)] {
        let keys: [UserID] = try transaction.values("SELECT user_id FROM data_keys WHERE erased_at IS NOT NULL")
        let entry = ColumnTuple(Column<String>("subject"), Column<String>("id"))
        let entries = try transaction.query(
            "SELECT \(entry) FROM audit_entries WHERE event = $1 ORDER BY at, id",
            [.text(AuditRepository.Event.userErased.rawValue)])
        return try keys.map { ($0, nil) }
            + entries.compactMap { row in
                let (subject, id) = try entry.read(row)
                return UserID(subject.dropFirst("user ".count)).map { ($0, id) }
            }
    }

    /// Whether the audit log has an entry.
    package func hasAuditEntry(_ id: String) throws -> Bool {
        try transaction.first("SELECT 1 FROM audit_entries WHERE id = $1", [.text(id)]) != nil
    }

    /// Every provider key that was retired or revoked.
    package func endedProviderKeys() throws -> [(id: ProviderKeyID, retiredAt: Date?, revokedAt: Date?)] {
        let columns = ColumnTuple(
            Column<ProviderKeyID>("id"), Column<Date?>("retired_at"), Column<Date?>("revoked_at"))
        return try transaction.query(
            "SELECT \(columns) FROM provider_keys WHERE retired_at IS NOT NULL OR revoked_at IS NOT NULL"
        ).map(columns.read)
    }

    /// Ends a provider key as it was ended elsewhere; `false` if it is unknown or ended so already.
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
        try NonceRepository(transaction).spentIdentifiers()
    }

    /// Spends an identifier as it was spent elsewhere.
    package func spend(_ identifier: String, until expiry: Date) throws {
        _ = try NonceRepository(transaction).spend(identifier, until: expiry)
    }
}
