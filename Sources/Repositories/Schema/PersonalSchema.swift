import Database

extension Schema {
    /// What is known of a person, sealed under a key of the person's own, and the row that joins it.
    static let personalData =
        Migration(
            identifier: 2, name: "personal data, sealed",
            statements: [
                """
                CREATE TABLE data_keys (
                    user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
                    wrapped BYTEA,
                    wrapping_version BIGINT,
                    created_at BIGINT NOT NULL,
                    erased_at BIGINT,
                    CHECK ((wrapped IS NULL) = (wrapping_version IS NULL)),
                    CHECK ((wrapped IS NULL) = (erased_at IS NOT NULL))
                )
                """,
                """
                CREATE INDEX data_keys_by_wrapping ON data_keys (wrapping_version, user_id)
                WHERE wrapping_version IS NOT NULL
                """,
                """
                CREATE TABLE authenticated_users (
                    user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
                    provider_id TEXT NOT NULL REFERENCES providers (id),
                    suspended TEXT,
                    phone_index BYTEA NOT NULL,
                    phone_number BYTEA NOT NULL,
                    push_endpoint BYTEA,
                    full_name BYTEA,
                    date_of_birth BYTEA,
                    postal_address BYTEA,
                    document_number BYTEA,
                    jurisdiction BYTEA,
                    phone_verified_at BIGINT NOT NULL,
                    identity_verified_at BIGINT,
                    archived_at BIGINT
                )
                """,
                """
                CREATE UNIQUE INDEX authenticated_users_by_phone ON authenticated_users (provider_id, phone_index)
                WHERE suspended IS NULL
                """,
                """
                CREATE INDEX authenticated_users_by_identity ON authenticated_users (identity_verified_at, user_id)
                WHERE identity_verified_at IS NOT NULL
                """,
                """
                CREATE TABLE identity_cards (
                    id TEXT NOT NULL PRIMARY KEY,
                    user_id TEXT NOT NULL REFERENCES users (id),
                    provider_id TEXT NOT NULL,
                    status TEXT NOT NULL,
                    sealed_facts BYTEA NOT NULL,
                    sealed_input BYTEA,
                    checks TEXT NOT NULL,
                    assurance TEXT NOT NULL,
                    document_index BYTEA,
                    person_index BYTEA,
                    submitted_at BIGINT NOT NULL,
                    decided_at BIGINT,
                    decided_by TEXT,
                    sealed_reason BYTEA,
                    CHECK (status IN ('verified', 'in_review', 'rejected')),
                    CHECK (sealed_input IS NULL OR status = 'in_review')
                )
                """,
                "CREATE INDEX identity_cards_by_user ON identity_cards (user_id)",
                "CREATE INDEX identity_cards_by_document ON identity_cards (document_index)",
                "CREATE INDEX identity_cards_by_person ON identity_cards (person_index)",
                "CREATE INDEX identity_cards_in_review ON identity_cards (submitted_at) WHERE status = 'in_review'",
            ])

    /// Since when each version of the wrapping key is in force: new data keys lie under no older one.
    static let wrappingVersions =
        Migration(
            identifier: 9, name: "versions of the wrapping key in force",
            statements: [
                """
                CREATE TABLE wrapping_versions (
                    version BIGINT NOT NULL PRIMARY KEY,
                    in_force_at BIGINT NOT NULL
                )
                """
            ])

    /// By which of their proven addresses users let others find them. The addresses stay in the tables that prove them.
    static let findableAddresses = Migration(
        identifier: 61, name: "addresses by which users can be found",
        statements: [
            """
            CREATE TABLE findable_addresses (
                user_id TEXT NOT NULL REFERENCES users (id),
                type TEXT NOT NULL,
                since BIGINT NOT NULL,
                PRIMARY KEY (user_id, type),
                CHECK (type IN ('phone', 'name'))
            )
            """
        ])

    /// Private contact discovery: keys and sets, week by week, and how much was asked.
    static let contactDiscovery = Migration(
        identifier: 62, name: "private contact discovery",
        statements: [
            "ALTER TABLE findable_addresses ADD COLUMN filled_week BIGINT NOT NULL DEFAULT 0",
            """
            CREATE INDEX findable_addresses_lacking ON findable_addresses (filled_week, user_id)
            WHERE type = 'phone'
            """,
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
        ])
}
