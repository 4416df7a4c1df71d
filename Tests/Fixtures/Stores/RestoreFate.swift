/// What a restore does to rows that were removed from a table since the copy was made, or changed so that somebody may do
/// less.
package enum RestoreFate: Sendable {
    /// The removal is carried out again.
    case replayed
    /// What the copy has counts for nothing any more, or ends.
    case ended
    /// Nobody removes rows to take something away: they go with another row, or by their age.
    case follows
    /// What was said since is lost, and whom it concerns says it again. It gives nobody a right.
    case saidAgain

    /// The fate of every table. Without the replaced store nothing is replayed, so the command lists what to repeat.
    package static let ofTables: [String: RestoreFate] = [
        "admin_certificates": .replayed, "admins": .replayed, "age_proofs": .replayed, "applications": .saidAgain,
        "attestation_lists": .follows, "attested_apps": .replayed, "audit_anchors": .follows,
        "audit_checkpoints": .follows,
        "audit_entries": .follows, "audit_head": .follows, "authenticated_users": .replayed,
        "authorization_rows": .follows, "authorizations": .replayed, "ban_holds": .replayed, "bans": .replayed,
        "blocks": .replayed, "certificate_notices": .follows, "certificates": .replayed, "cuts": .ended,
        "data_keys": .replayed, "device_attestations": .follows, "devices": .replayed, "discovery_budgets": .follows,
        "discovery_entries": .follows,
        "discovery_keys": .follows, "erasures": .follows, "event_stream_exclusions": .saidAgain,
        "event_streams": .replayed,
        "findable_addresses": .replayed, "forbidden_apps": .replayed, "generations": .ended,
        "identity_cards": .replayed, "issuers": .follows,
        "key_fingerprints": .follows, "maintenance_tasks": .follows, "nodes": .ended, "online_users": .ended,
        "outbox": .ended,
        "outbox_turns": .follows, "permission_cuts": .follows, "phone_failures": .follows,
        "phone_groups": .follows,
        "phone_provider_spend": .follows, "phone_sends": .follows, "phone_spend": .follows, "phone_stops": .saidAgain,
        "phone_tallies": .follows, "phone_verifications": .ended, "presences": .replayed,
        "presentations": .ended, "provider_clients": .replayed,
        "provider_keys": .replayed, "push_endpoints": .ended,
        "provider_resources": .replayed, "provider_webhooks": .replayed, "providers": .replayed, "rates": .follows,
        "recent_certifications": .follows, "revocation_counter": .follows, "revocation_lists": .replayed,
        "revoked_keys": .replayed, "schema_migrations": .follows, "sessions": .ended, "sign_in_tallies": .follows,
        "sign_ins": .follows,
        "spent_identifiers": .replayed,
        "storage_opt_outs": .replayed, "store_settings": .follows, "stream_deliveries": .follows,
        "stream_event_metadata": .follows, "stream_event_readers": .replayed,
        "stream_events": .replayed, "stream_metadata": .replayed,
        "stream_members": .replayed, "stream_users": .follows, "streams": .replayed,
        "trust_lists": .saidAgain, "user_changes": .follows,
        "users": .replayed, "waiting_acts": .ended, "wallet_origins": .replayed,
        "wrapping_versions": .follows,
    ]
}
