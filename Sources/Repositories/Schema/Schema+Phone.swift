extension Schema {
    /// Phone verifications, and the numbers of texts for their limits.
    static let phone = [
        """
        CREATE TABLE phone_verifications (
            id TEXT NOT NULL PRIMARY KEY,
            user_id TEXT NOT NULL REFERENCES users (id),
            device_id TEXT NOT NULL,
            number_index BYTEA NOT NULL,
            sealed_number BYTEA NOT NULL,
            sealed_push_endpoint BYTEA,
            key_version BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            checks BIGINT NOT NULL,
            resends BIGINT NOT NULL,
            asked_at BIGINT NOT NULL,
            is_sent INTEGER NOT NULL,
            verified_at BIGINT,
            language TEXT
        )
        """,
        "CREATE INDEX phone_verifications_by_user ON phone_verifications (user_id, number_index)",
        "CREATE INDEX phone_verifications_by_expiry ON phone_verifications (expires_at)",
        """
        CREATE TABLE phone_failures (
            user_id TEXT NOT NULL,
            number_index BYTEA NOT NULL,
            failures BIGINT NOT NULL,
            frozen_until BIGINT,
            updated_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, number_index)
        )
        """,
        "CREATE INDEX phone_failures_by_time ON phone_failures (updated_at)",
        // Rows are counted only if a limit of the user or the number bounds them. Shared limits read `phone_tallies`.
        """
        CREATE TABLE phone_sends (
            id TEXT NOT NULL PRIMARY KEY,
            verification_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            number_index BYTEA NOT NULL,
            at BIGINT NOT NULL,
            by_owner INTEGER NOT NULL,
            withheld TEXT,
            verified INTEGER NOT NULL,
            counters TEXT,
            places TEXT
        )
        """,
        "CREATE INDEX phone_sends_by_user ON phone_sends (user_id, at)",
        "CREATE INDEX phone_sends_by_user_and_number ON phone_sends (user_id, number_index, at)",
        "CREATE INDEX phone_sends_sent_by_number ON phone_sends (number_index, by_owner, at) WHERE withheld IS NULL",
        "CREATE INDEX phone_sends_by_verification ON phone_sends (verification_id)",
        "CREATE INDEX phone_sends_by_time ON phone_sends (at)",
        "CREATE INDEX phone_sends_counted ON phone_sends (at) WHERE counters IS NOT NULL",
        // Texts and correct codes by counter, in steps of five minutes.
        """
        CREATE TABLE phone_tallies (
            counter TEXT NOT NULL,
            step BIGINT NOT NULL,
            sends BIGINT NOT NULL,
            verified BIGINT NOT NULL,
            PRIMARY KEY (counter, step)
        )
        """,
        "CREATE INDEX phone_tallies_by_step ON phone_tallies (step)",
        // Texts and correct codes of a group of requesters by days, for a week.
        """
        CREATE TABLE phone_groups (
            name TEXT NOT NULL,
            day BIGINT NOT NULL,
            sends BIGINT NOT NULL,
            verified BIGINT NOT NULL,
            PRIMARY KEY (name, day)
        )
        """,
        "CREATE INDEX phone_groups_by_day ON phone_groups (day)",
        "CREATE TABLE phone_stops (subject TEXT NOT NULL PRIMARY KEY, ends_at BIGINT NOT NULL)",
        "CREATE TABLE phone_spend (day BIGINT NOT NULL PRIMARY KEY, amount BIGINT NOT NULL)",
        """
        CREATE TABLE phone_provider_spend (
            day BIGINT NOT NULL,
            provider_id TEXT NOT NULL,
            amount BIGINT NOT NULL,
            PRIMARY KEY (day, provider_id)
        )
        """,
    ]
}
