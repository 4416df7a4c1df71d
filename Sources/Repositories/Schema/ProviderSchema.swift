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

    /// The URLs by which devices name a provider.
    static let providerResources = Migration(
        identifier: 35, name: "resource URLs of providers",
        statements: [
            """
            CREATE TABLE provider_resources (
                canonical_url TEXT NOT NULL PRIMARY KEY,
                url TEXT NOT NULL,
                provider_id TEXT NOT NULL REFERENCES providers (id),
                added_at BIGINT NOT NULL
            )
            """,
            "CREATE INDEX provider_resources_by_provider ON provider_resources (provider_id, added_at, canonical_url)",
        ])

    /// The waiting messages that are no events: with events among them SQLite would look for the next provider in here,
    /// and walk all events that wait.
    static let messagesWaiting = Migration(
        identifier: 40, name: "index of waiting messages that are no events",
        index: TableIndex(
            "outbox_messages_waiting", on: "outbox",
            "(kind, due_at) WHERE state = 'waiting' AND kind <> 'provider_event'"))
    static let noMixedOutboxIndex = Migration(
        identifier: 41, name: "one index of waiting messages and events less",
        statements: ["DROP INDEX outbox_waiting_by_kind"])

    /// A row that whoever leases events holds until its commit, so that no two count at once what is under way.
    static let outboxTurns = Migration(
        identifier: 58, name: "turns of those who lease events",
        statements: [
            "CREATE TABLE outbox_turns (kind TEXT NOT NULL PRIMARY KEY)",
            "INSERT INTO outbox_turns (kind) VALUES ('provider_event')",
        ])

    /// Whose message it is, so that owners take turns. A node of before writes none: those messages are one owner's.
    static let outboxOwners = Migration(
        identifier: 67, name: "owners of messages in the outbox",
        statements: ["ALTER TABLE outbox ADD COLUMN owner TEXT NOT NULL DEFAULT ''"])

    /// The last condition of the events' index is for SQLite alone: only statements that repeat it take this index.
    /// Others would look for the next receiver in it, and walk all events that wait.
    static let outboxTurnIndexes = Migration(
        identifier: 68, name: "indexes of messages by owner, of events by time and of leases by their end",
        indexes: [
            TableIndex(
                "outbox_by_owner", on: "outbox",
                """
                (kind, owner, due_at, id) WHERE state = 'waiting'
                AND kind <> 'provider_event' AND kind <> 'polled_event' AND kind <> 'notification'
                """),
            TableIndex(
                "outbox_events_due", on: "outbox",
                "(kind, due_at, subject) WHERE state = 'waiting' AND kind = 'provider_event' AND due_at > 0"),
            TableIndex("outbox_leases", on: "outbox", "(kind, leased_until) WHERE lease IS NOT NULL"),
        ])

    /// Providers whose users sign in by ID tokens of an issuer, the issuers' keys, and when these were read.
    static let issuers = Migration(
        identifier: 43, name: "providers by issuer",
        statements: [
            "ALTER TABLE providers ADD COLUMN issuer TEXT",
            "ALTER TABLE providers ADD COLUMN audience TEXT",
            "ALTER TABLE providers ADD COLUMN id_token_algorithms TEXT",
            "ALTER TABLE providers ADD COLUMN ends_removed_keys INTEGER NOT NULL DEFAULT 0",
            "CREATE UNIQUE INDEX providers_by_issuer ON providers (issuer, audience) WHERE issuer IS NOT NULL",
            "ALTER TABLE provider_keys ADD COLUMN issuer_key_id TEXT",
            """
            CREATE TABLE issuers (
                issuer TEXT NOT NULL PRIMARY KEY,
                attempted_at BIGINT NOT NULL,
                read_at BIGINT NOT NULL,
                fresh_until BIGINT NOT NULL,
                failure TEXT
            )
            """,
            "CREATE INDEX issuers_by_attempt ON issuers (attempted_at, issuer)",
        ])
}
