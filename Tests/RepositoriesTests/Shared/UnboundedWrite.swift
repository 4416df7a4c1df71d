/// Statements that change or delete rows without a limit, by the reason why their rows are few.
enum UnboundedWrite {
    /// Parts of statements, with one space between any two words.
    static let reasons: [String: [String]] = [
        "the policy limits the rows of a user": [
            "DELETE FROM discovery_entries WHERE user_id = $1", "DELETE FROM findable_addresses WHERE user_id = $1",
            "DELETE FROM blocks WHERE blocker_id = $1", "DELETE FROM push_endpoints WHERE user_id = $1",
        ],
        "the policy limits the attempts of a user in a period": [
            "DELETE FROM identity_cards WHERE user_id = $1", "DELETE FROM presentations WHERE user_id = $1",
            "DELETE FROM \\(table) WHERE user_id = $1",
        ],
        "a user has a row for each app, node or event stream of the provider": [
            "DELETE FROM forbidden_apps WHERE user_id = $1", "UPDATE \\(table) SET user_generation",
            "DELETE FROM online_users WHERE user_id = $1", "DELETE FROM event_stream_exclusions WHERE user_id = $1",
        ],
        "created_per_minute limits the sessions of a device, and its certificates are purged": [
            "DELETE FROM push_endpoints WHERE device_id = $1 AND user_id <> $2",
            "UPDATE certificates SET attestation = $2 WHERE device_id = $1",
            "UPDATE recent_certifications SET places = NULL WHERE serial IN",
            "UPDATE sessions SET thumbprint = $2 WHERE device_id = $1",
        ],
        "created_per_minute and the lifetimes limit the open sessions of a user or device": [
            "AND \\(Self.isAllowed(Self.challenged))"
        ],
        "a key has few certificates": [
            "UPDATE certificates SET unlisted = 0 WHERE key_hash = $1", "WHERE replaces = $1 AND \\(Self.isUnseen)",
        ],
        "a telephone number has few users": ["UPDATE authenticated_users SET suspended = $4"],
        "the policy limits the members of a stream, and their metadata": [
            "DELETE FROM stream_members WHERE stream_id = $1", "DELETE FROM stream_deliveries WHERE stream_id = $1",
            "UPDATE stream_deliveries SET is_new", "DELETE FROM stream_metadata WHERE stream_id = $1",
            "DELETE FROM stream_event_readers WHERE stream_id = $1 AND sequence = $2",
        ],
        "two users have few open requests": [
            "UPDATE authorization_rows SET recipient_id = NULL, sent = NULL, message_id = NULL WHERE type = 'REQUEST'",
            "UPDATE authorizations SET is_delivered = 0",
        ],
        "events_held limits the events of a stream, and a constant the users that it excludes": [
            "DELETE FROM outbox WHERE \\(queue)", "UPDATE outbox SET kind =",
            "DELETE FROM event_stream_exclusions WHERE stream_id = $1",
        ],
        "an administrator has seen how many users the ban affects": [
            "UPDATE ban_holds SET goes_with_ban = 1 WHERE ban_id = $1", "DELETE FROM ban_holds WHERE",
        ],
        "a restore, while nothing is served": [
            "reason = 'the store was restored'", "DELETE FROM push_endpoints WHERE 1 = 1",
            "UPDATE phone_verifications SET expires_at = $1 WHERE verified_at IS NULL",
            "transaction.enqueue(\"DELETE FROM cuts\"", "DELETE FROM audit_anchors",
        ],
        "a small table, or one row a day or a week": [
            "DELETE FROM discovery_keys", "UPDATE admin_certificates", "DELETE FROM waiting_acts",
            "DELETE FROM audit_checkpoints", "DELETE FROM revocation_lists", "DELETE FROM nodes",
            "DELETE FROM phone_stops", "DELETE FROM phone_spend", "DELETE FROM phone_provider_spend",
            "DELETE FROM phone_tallies WHERE counter = $1", "DELETE FROM provider_clients", "AND why = $4",
        ],
        "one row, which other columns or a property name": [
            "UPDATE findable_addresses SET filled_week = $1", "WHERE \\(Self.ofSession)", "WHERE \\(Self.isIt)",
            "UPDATE rates SET arrival", "SET generation = generation + 1", "UPDATE \\(table) SET held",
            "AND kind = 'NOTIFICATION' AND target = $2", "insteadOf:",
            "UPDATE phone_sends SET verified = 1 WHERE verification_id = $1",
            "DELETE FROM push_endpoints WHERE user_id = (SELECT",
        ],
        "its caller gives a bounded part": [
            "DELETE FROM audit_entries WHERE sequence >= $1 AND sequence <= $2", "FROM (\\(rows)) AS given",
            "self.act = act ?? \"DELETE FROM \\(table)\"",
        ],
    ]
}
