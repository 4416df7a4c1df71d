import Database

extension Schema {
    /// Phone verifications, the counts that guard them, and the outbox.
    static let phoneVerification = Migration(
        identifier: 3, name: "phone verifications and the outbox",
        statements: [
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
                verified_at BIGINT
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
            """
            CREATE TABLE phone_sends (
                id TEXT NOT NULL PRIMARY KEY,
                verification_id TEXT NOT NULL,
                user_id TEXT NOT NULL,
                number_index BYTEA NOT NULL,
                prefix_index BYTEA NOT NULL,
                country TEXT NOT NULL,
                at BIGINT NOT NULL,
                by_owner INTEGER NOT NULL,
                withheld TEXT,
                bears_on_country INTEGER NOT NULL,
                verified INTEGER NOT NULL
            )
            """,
            "CREATE INDEX phone_sends_by_user ON phone_sends (user_id, at)",
            "CREATE INDEX phone_sends_by_number ON phone_sends (number_index, at)",
            "CREATE INDEX phone_sends_by_prefix ON phone_sends (prefix_index, at) WHERE withheld IS NULL",
            "CREATE INDEX phone_sends_by_country ON phone_sends (country, at) WHERE bears_on_country = 1",
            "CREATE INDEX phone_sends_by_verification ON phone_sends (verification_id)",
            "CREATE INDEX phone_sends_by_time ON phone_sends (at)",
            "CREATE TABLE phone_stops (subject TEXT NOT NULL PRIMARY KEY, ends_at BIGINT NOT NULL)",
            "CREATE TABLE phone_spend (day BIGINT NOT NULL PRIMARY KEY, amount BIGINT NOT NULL)",
            """
            CREATE TABLE outbox (
                id TEXT NOT NULL PRIMARY KEY,
                kind TEXT NOT NULL,
                subject TEXT NOT NULL,
                user_id TEXT NOT NULL,
                deduplication_key TEXT NOT NULL UNIQUE,
                payload BYTEA NOT NULL,
                created_at BIGINT NOT NULL,
                expires_at BIGINT NOT NULL,
                due_at BIGINT NOT NULL,
                tries BIGINT NOT NULL,
                state TEXT NOT NULL,
                reason TEXT,
                lease TEXT,
                leased_until BIGINT,
                ended_at BIGINT,
                CHECK ((state = 'waiting') = (ended_at IS NULL))
            )
            """,
            "CREATE INDEX outbox_waiting ON outbox (due_at) WHERE state = 'waiting'",
            "CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL",
        ])

    /// Indexes of before ``phoneTallies``: counters took the place of what they were read for.
    static let noIndexesOfCountedTexts = Migration(
        identifier: 48, name: "three indexes of texts less",
        statements: ["phone_sends_by_number", "phone_sends_by_prefix", "phone_sends_by_country"].map {
            "DROP INDEX \($0)"
        })
}
