/// A statement that may walk a table, and why. No request runs any of them.
struct AllowedScan: Sendable {
    /// A part of the statement, with one space between any two words.
    let part: String
    let reason: String

    /// Tables that do not grow with users, sessions or time.
    static let small: Set<String> = [
        "admin_certificates", "admins", "audit_anchors", "audit_head", "cuts", "generations", "nodes", "providers",
        "provider_keys",
        "provider_webhooks", "applications", "revocation_counter", "revocation_lists", "wrapping_versions",
        "phone_spend", "phone_provider_spend", "phone_stops", "maintenance_tasks", "key_fingerprints", "waiting_acts",
        "event_streams", "provider_clients", "provider_resources", "trust_lists", "wallet_origins", "attested_apps",
        "attestation_lists", "issuers",
        "store_settings",
        "outbox_turns", "discovery_keys", "erasures",
    ]

    static let all = restoring + rest

    private static let restoring = [
        "end_reason = 'the store was restored'", "reason = 'the store was restored'",
        "UPDATE phone_verifications SET expires_at = $1 WHERE verified_at IS NULL",
        "FROM data_keys WHERE erased_at IS NOT NULL", "FROM audit_entries WHERE event = $1 ORDER BY at",
        "SELECT id, deleted_at FROM streams WHERE deleted_at IS NOT NULL", "DELETE FROM push_endpoints WHERE 1 = 1",
        "SELECT user_id FROM presences WHERE is_hidden = 1",
    ].map { AllowedScan(part: $0, reason: "a restore, while nothing is served") }

    private static let rest = [
        AllowedScan(part: "FROM certificate_notices ORDER BY", reason: "the first ones of a table that is emptied"),
        AllowedScan(part: "SELECT id FROM bans WHERE", reason: "notes are wrapped anew, after a rotation"),
        AllowedScan(part: "FROM bans WHERE note_version IS NOT NULL", reason: "counts before a key is removed"),
        AllowedScan(part: "FROM bans WHERE lift_note_version IS NOT NULL", reason: "counts before a key is removed"),
        AllowedScan(part: "SELECT key_hash FROM revoked_keys", reason: "all of them are wanted"),
    ]
}
