import Database

extension Schema {
    /// What a sign-in and the purges look for, without a walk through everything that was.
    static let openSessionIndexes = Migration(
        identifier: 20, name: "indexes of open sessions, and by what is purged",
        statements: [
            // A user who has signed in ten thousand times has eight of them.
            """
            CREATE INDEX sessions_open ON sessions (user_id, device_id)
            WHERE state <> 'unauthenticated'
            """,
            """
            CREATE INDEX sessions_open_by_device ON sessions (device_id)
            WHERE state <> 'unauthenticated'
            """,
            "CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL",
            "CREATE INDEX sessions_by_renewal ON sessions (renewed_at)",
            "CREATE INDEX spent_identifiers_by_expiry ON spent_identifiers (expires_at)",
            "CREATE INDEX rates_by_arrival ON rates (arrival)",
            "CREATE INDEX phone_failures_by_time ON phone_failures (updated_at)",
            """
            CREATE INDEX identity_cards_with_input ON identity_cards (submitted_at)
            WHERE sealed_input IS NOT NULL
            """,
            "CREATE INDEX outbox_by_user ON outbox (user_id)",
            """
            CREATE INDEX authorization_rows_by_recipient ON authorization_rows (recipient_id)
            WHERE recipient_id IS NOT NULL
            """,
        ])

    /// Nonces are spent by rows of `sessions`. The rename waits for whoever spends one, and from then on nodes of the version
    /// before spend none: what they accepted and what this version accepts is never the same.
    static let formerNonces = Migration(
        identifier: 31, name: "nonces are spent by sessions",
        statements: ["ALTER TABLE spent_nonces RENAME TO former_nonces"])

    /// A token names its session, so that its hash is looked for no more, but for tokens of before, whose sessions have ids of
    /// another version than 8. Nor does anybody ask for all sessions of a device, ended ones too. Both indexes were written at
    /// places all over them by each sign-in.
    static let noTokenIndex = Migration(
        identifier: 52, name: "no index of all tokens and of all sessions of a device",
        postgreSQL: [
            "ALTER TABLE sessions DROP CONSTRAINT sessions_token_hash_key", "DROP INDEX sessions_by_device",
            formerTokenIndex,
        ],
        sqlite: [
            """
            CREATE TABLE sessions_rebuilt (
                id TEXT NOT NULL PRIMARY KEY,
                token_hash BYTEA NOT NULL,
                user_id TEXT NOT NULL REFERENCES users (id),
                provider_id TEXT NOT NULL,
                external_id TEXT NOT NULL,
                application_id TEXT NOT NULL,
                device_id TEXT NOT NULL,
                thumbprint BYTEA NOT NULL,
                provider_key_id TEXT NOT NULL,
                state TEXT NOT NULL,
                created_at BIGINT NOT NULL,
                renewed_at BIGINT NOT NULL,
                last_used_at BIGINT NOT NULL,
                challenged_at BIGINT,
                ended_at BIGINT,
                end_reason TEXT,
                user_generation BIGINT NOT NULL DEFAULT 0,
                device_generation BIGINT NOT NULL DEFAULT 0,
                provider_generation BIGINT NOT NULL DEFAULT 0,
                key_generation BIGINT NOT NULL DEFAULT 0,
                CHECK ((state = 'unauthenticated') = (ended_at IS NOT NULL)),
                CHECK ((state = 'challenged') = (challenged_at IS NOT NULL) OR state = 'unauthenticated')
            )
            """,
            "INSERT INTO sessions_rebuilt SELECT * FROM sessions",
            "DROP TABLE sessions",
            "ALTER TABLE sessions_rebuilt RENAME TO sessions",
            "CREATE INDEX sessions_by_user ON sessions (user_id, device_id)",
            "CREATE INDEX sessions_open ON sessions (user_id, device_id) WHERE state <> 'unauthenticated'",
            "CREATE INDEX sessions_open_by_device ON sessions (device_id) WHERE state <> 'unauthenticated'",
            "CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL",
            "CREATE INDEX sessions_by_renewal ON sessions (renewed_at)",
            """
            CREATE INDEX sessions_open_by_key ON sessions (provider_key_id, provider_generation)
            WHERE state <> 'unauthenticated'
            """,
            formerTokenIndex,
        ])

    private static let formerTokenIndex = """
        CREATE UNIQUE INDEX sessions_by_former_token ON sessions (token_hash) WHERE substr(id, 15, 1) <> '8'
        """
}
