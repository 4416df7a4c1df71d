import Database

extension Schema {
    /// Which key added a key; which receivers are left alone; and the indexes by which the outbox is shared among
    /// providers.
    static let providerStanding = Migration(
        identifier: 16, name: "who added a provider's key, rests of receivers",
        statements: [
            "ALTER TABLE provider_keys ADD COLUMN added_by TEXT",
            "ALTER TABLE provider_webhooks ADD COLUMN failures BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE provider_webhooks ADD COLUMN resting_until BIGINT",
            """
            CREATE INDEX outbox_events_waiting ON outbox (subject, due_at, id)
            WHERE state = 'waiting' AND kind = 'provider_event'
            """,
            "CREATE INDEX outbox_leased ON outbox (kind, subject, leased_until) WHERE lease IS NOT NULL",
            "CREATE INDEX outbox_waiting_by_expiry ON outbox (expires_at) WHERE state = 'waiting'",
        ])

    /// By which algorithm a provider's sessions are signed for its backend.
    static let tokenAlgorithms = Migration(
        identifier: 34, name: "algorithms of session tokens",
        statements: ["ALTER TABLE providers ADD COLUMN token_algorithm TEXT NOT NULL DEFAULT 'RS256'"])
}
