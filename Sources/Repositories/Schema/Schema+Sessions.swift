extension Schema {
    /// Sessions and their bulk revocations, and spent identifiers.
    static let sessions = [
        // `has_endpoint` is 1 if the session registered a push endpoint.
        // The row whose id is derived from a nonce spends it. `token_hash` has no index, because a token contains its
        // session's id.
        """
        CREATE TABLE sessions (
            id TEXT NOT NULL PRIMARY KEY,
            token_hash BYTEA NOT NULL,
            user_id TEXT NOT NULL REFERENCES users (id),
            provider_id TEXT NOT NULL,
            external_id TEXT NOT NULL,
            application_id TEXT NOT NULL,
            device_id TEXT NOT NULL,
            thumbprint BYTEA NOT NULL,
            provider_key_id TEXT NOT NULL,
            user_generation BIGINT NOT NULL,
            device_generation BIGINT NOT NULL,
            provider_generation BIGINT NOT NULL,
            key_generation BIGINT NOT NULL,
            state TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            renewed_at BIGINT NOT NULL,
            last_used_at BIGINT NOT NULL,
            challenged_at BIGINT,
            ended_at BIGINT,
            end_reason TEXT,
            has_endpoint INTEGER NOT NULL DEFAULT 0,
            CHECK ((state = 'unauthenticated') = (ended_at IS NOT NULL)),
            CHECK ((state = 'challenged') = (challenged_at IS NOT NULL) OR state = 'unauthenticated')
        )
        """,
        "CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id)",
        // A user with ten thousand past sessions has at most eight open ones.
        "CREATE INDEX sessions_open ON sessions (user_id, device_id) WHERE state <> 'unauthenticated'",
        "CREATE INDEX sessions_open_by_device ON sessions (device_id) WHERE state <> 'unauthenticated'",
        // The open sessions of a key, and of a provider by its keys, in the order of a list.
        """
        CREATE INDEX sessions_open_by_key_and_id ON sessions (provider_key_id, provider_generation, id)
        WHERE state <> 'unauthenticated'
        """,
        "CREATE INDEX sessions_ended ON sessions (ended_at, id) WHERE ended_at IS NOT NULL",
        "CREATE INDEX sessions_ended_by_key ON sessions (provider_key_id, ended_at, id) WHERE ended_at IS NOT NULL",
        "CREATE INDEX sessions_by_renewal ON sessions (renewed_at)",
        // Raising a generation ends all sessions with an earlier one. Their rows are updated in batches.
        """
        CREATE TABLE cuts (
            kind TEXT NOT NULL,
            gate_id TEXT NOT NULL,
            generation BIGINT NOT NULL,
            why TEXT NOT NULL,
            at BIGINT NOT NULL,
            ended BIGINT NOT NULL,
            due_at BIGINT NOT NULL,
            holder TEXT,
            PRIMARY KEY (kind, gate_id, generation),
            CHECK (kind IN ('user', 'device', 'provider', 'provider_key'))
        )
        """,
        "CREATE INDEX cuts_by_turn ON cuts (due_at, kind, gate_id, generation)",
        // Apps that may not open sessions of a user. Such a user's `held` is 1, so that sign-ins look here.
        """
        CREATE TABLE forbidden_apps (
            user_id TEXT NOT NULL REFERENCES users (id),
            application_id TEXT NOT NULL REFERENCES applications (id),
            created_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, application_id)
        )
        """,
        "CREATE TABLE spent_identifiers (identifier TEXT NOT NULL PRIMARY KEY, expires_at BIGINT NOT NULL)",
        "CREATE INDEX spent_identifiers_by_expiry ON spent_identifiers (expires_at)",
        // The generation of nonces, which changes with a restore.
        "CREATE TABLE generations (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
        "INSERT INTO generations (name, value) VALUES ('nonces', '')",
    ]

    /// Attempts to sign in, accepted or refused.
    static let signIns = [
        // Without a foreign key: an attempt is written after its sign-in, and must not wait for a user's row.
        """
        CREATE TABLE sign_ins (
            id TEXT NOT NULL,
            at BIGINT NOT NULL,
            act TEXT NOT NULL,
            provider_id TEXT,
            user_id TEXT,
            session_id TEXT,
            provider_key_id TEXT,
            application_id TEXT,
            device_id TEXT,
            code TEXT,
            reason TEXT,
            PRIMARY KEY (at, id)
        )
        """,
        "CREATE INDEX sign_ins_by_user ON sign_ins (user_id, at, id) WHERE user_id IS NOT NULL",
        // Whom a key signed in.
        """
        CREATE INDEX sign_ins_by_key ON sign_ins (provider_key_id, at, id)
        WHERE provider_key_id IS NOT NULL AND session_id IS NOT NULL
        """,
        // Attempts from busy networks that have no row of their own. The text is empty for no provider.
        """
        CREATE TABLE sign_in_tallies (
            provider_id TEXT NOT NULL,
            hour BIGINT NOT NULL,
            network BYTEA NOT NULL,
            accepted BIGINT NOT NULL,
            refused BIGINT NOT NULL,
            PRIMARY KEY (provider_id, hour, network)
        )
        """,
        "CREATE INDEX sign_in_tallies_by_hour ON sign_in_tallies (hour)",
    ]
}
