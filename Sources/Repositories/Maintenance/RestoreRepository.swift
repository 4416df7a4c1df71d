import Database
import Domain
import Foundation

/// Data across tables that a restore must not bring back, or must copy from the replaced store.
package struct RestoreRepository {
    private let transaction: any Transaction
}

package extension RestoreRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Drops all unsent messages of the outbox; returns how many.
    func dropUnsentMessages() throws -> Int {
        try transaction.execute(
            """
            UPDATE outbox SET state = 'dropped', ended_at = $1, payload = $2, reason = 'the store was restored',
                lease = NULL, leased_until = NULL
            WHERE state IN ('waiting', 'dead')
            """, [.time(transaction.now), .bytes([])])
    }

    /// Deletes all push endpoints. Users may have signed out since, and apps register again.
    func deletePushEndpoints() throws {
        try transaction.execute("DELETE FROM push_endpoints WHERE 1 = 1")
    }

    /// Ends every phone verification, because the number of checks since the backup is unknown.
    func endPhoneVerifications() throws {
        try transaction.execute(
            "UPDATE phone_verifications SET expires_at = $1 WHERE verified_at IS NULL AND expires_at > $1",
            [.time(transaction.now)])
    }

    private static let generation = ColumnTuple(Column<String>("name"), Column<String>("value"))

    /// The generation of nonces, from which their key is derived.
    func nonceGeneration() throws -> String {
        try transaction.value("SELECT value FROM generations WHERE name = 'nonces'") ?? ""
    }

    /// Starts a generation of nonces. Earlier nonces are no longer recognized.
    ///
    /// - Parameter name: a random name, because a backup may be restored more than once.
    func beginNonceGeneration(_ name: UUID) throws {
        try transaction.execute(
            """
            INSERT INTO generations (\(Self.generation)) VALUES (\(Self.generation.placeholders))
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, Self.generation.row("nonces", Identifier<RestoreRepository>(name).description))
    }

    /// The erased users, by their keys and by the audit log, with the id of the log's entry.
    func erasures() throws -> [(user: UserID, entry: String?)] {
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

    func hasAuditEntry(_ id: String) throws -> Bool {
        try transaction.first("SELECT 1 FROM audit_entries WHERE id = $1", [.text(id)]) != nil
    }

    /// Every provider key that was retired or revoked.
    func endedProviderKeys() throws -> [(id: ProviderKeyID, retiredAt: Date?, revokedAt: Date?)] {
        let columns = ColumnTuple(
            Column<ProviderKeyID>("id"), Column<Date?>("retired_at"), Column<Date?>("revoked_at"))
        return try transaction.query(
            "SELECT \(columns) FROM provider_keys WHERE retired_at IS NOT NULL OR revoked_at IS NOT NULL"
        ).map(columns.read)
    }

    /// Ends a provider key as in the other store; `false` if it is unknown or has ended already.
    func end(_ id: ProviderKeyID, retiredAt: Date?, revokedAt: Date?) throws -> Bool {
        try transaction.execute(
            """
            UPDATE provider_keys SET retired_at = COALESCE(retired_at, $2), revoked_at = COALESCE(revoked_at, $3)
            WHERE id = $1 AND ((retired_at IS NULL AND CAST($2 AS BIGINT) IS NOT NULL)
                OR (revoked_at IS NULL AND CAST($3 AS BIGINT) IS NOT NULL))
            """, [.id(id), .time(retiredAt), .time(revokedAt)]) > 0
    }

    /// The spent identifiers of one-time tokens that have not expired.
    func spentIdentifiers() throws -> [(identifier: String, expiresAt: Date)] {
        try NonceRepository(transaction).spentIdentifiers()
    }

    /// Spends an identifier that was spent in the other store.
    func spend(_ identifier: String, until expiry: Date) throws {
        _ = try NonceRepository(transaction).spend(identifier, until: expiry)
    }
}
