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
}
