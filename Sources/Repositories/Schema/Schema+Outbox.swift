extension Schema {
    /// The outbox: messages that are written in the transaction that caused them and sent after it.
    static let outbox = [
        // `owner` is the provider or issuer that the message is for, so that owners take turns.
        """
        CREATE TABLE outbox (
            id TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL,
            owner TEXT NOT NULL,
            subject TEXT NOT NULL,
            user_id TEXT NOT NULL,
            deduplication_key TEXT NOT NULL UNIQUE,
            payload BYTEA NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            due_at BIGINT NOT NULL,
            tries BIGINT NOT NULL,
            lease TEXT,
            leased_until BIGINT,
            state TEXT NOT NULL,
            reason TEXT,
            ended_at BIGINT,
            CHECK ((state = 'waiting') = (ended_at IS NULL))
        )
        """,
        "CREATE INDEX outbox_by_time ON outbox (created_at, id)",
        "CREATE INDEX outbox_by_user ON outbox (user_id, created_at, id)",
        "CREATE INDEX outbox_dead ON outbox (created_at, id) WHERE state = 'dead'",
        "CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL",
        // Messages that are neither sent nor dead, by state and time. They are few among very many.
        """
        CREATE INDEX outbox_unsent ON outbox (state, created_at, id) WHERE state <> 'sent' AND state <> 'dead'
        """,
        "CREATE INDEX outbox_waiting ON outbox (due_at) WHERE state = 'waiting'",
        "CREATE INDEX outbox_waiting_by_expiry ON outbox (expires_at) WHERE state = 'waiting'",
        // Without events. Otherwise SQLite would use this index to find the next provider, and scan all waiting events.
        """
        CREATE INDEX outbox_messages_waiting ON outbox (kind, due_at)
        WHERE state = 'waiting' AND kind <> 'provider_event'
        """,
        """
        CREATE INDEX outbox_by_owner ON outbox (kind, owner, due_at, id)
        WHERE state = 'waiting' AND kind <> 'provider_event' AND kind <> 'polled_event' AND kind <> 'notification'
        """,
        """
        CREATE INDEX outbox_events_waiting ON outbox (subject, due_at, id)
        WHERE state = 'waiting' AND kind = 'provider_event'
        """,
        // The last condition is for SQLite, which uses this index only for statements that repeat it. Other statements
        // would use it to find the next receiver, and scan all waiting events.
        """
        CREATE INDEX outbox_events_due ON outbox (kind, due_at, subject)
        WHERE state = 'waiting' AND kind = 'provider_event' AND due_at > 0
        """,
        """
        CREATE INDEX outbox_polled_waiting ON outbox (subject, created_at, id)
        WHERE state = 'waiting' AND kind = 'polled_event'
        """,
        "CREATE INDEX outbox_leased ON outbox (kind, subject, leased_until) WHERE lease IS NOT NULL",
        "CREATE INDEX outbox_leases ON outbox (kind, leased_until) WHERE lease IS NOT NULL",
        // A sender that leases events locks this row until its commit, so that no two count the events being sent at
        // once.
        "CREATE TABLE outbox_turns (kind TEXT NOT NULL PRIMARY KEY)",
        "INSERT INTO outbox_turns (kind) VALUES ('provider_event')",
    ]
}
