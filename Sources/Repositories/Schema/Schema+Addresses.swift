extension Schema {
    /// Users' findable addresses, and private contact discovery.
    static let addresses = [
        // The addresses stay in the tables that prove them.
        """
        CREATE TABLE findable_addresses (
            user_id TEXT NOT NULL REFERENCES users (id),
            type TEXT NOT NULL,
            since BIGINT NOT NULL,
            filled_week BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (user_id, type),
            CHECK (type IN ('phone', 'name'))
        )
        """,
        "CREATE INDEX findable_addresses_lacking ON findable_addresses (filled_week, user_id) WHERE type = 'phone'",
        """
        CREATE TABLE discovery_keys (
            provider_id TEXT NOT NULL REFERENCES providers (id),
            week BIGINT NOT NULL,
            seed BYTEA NOT NULL,
            index_version BIGINT NOT NULL,
            entries BIGINT NOT NULL,
            PRIMARY KEY (provider_id, week)
        )
        """,
        """
        CREATE TABLE discovery_entries (
            user_id TEXT NOT NULL REFERENCES users (id),
            week BIGINT NOT NULL,
            provider_id TEXT NOT NULL,
            tag BYTEA NOT NULL,
            masked BYTEA NOT NULL,
            PRIMARY KEY (user_id, week),
            UNIQUE (week, provider_id, tag)
        )
        """,
        """
        CREATE TABLE discovery_budgets (
            day BIGINT NOT NULL,
            number_index BYTEA NOT NULL,
            used BIGINT NOT NULL,
            PRIMARY KEY (day, number_index)
        )
        """,
    ]
}
