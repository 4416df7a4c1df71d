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
                    assurance TEXT NOT NULL,
                    suspended TEXT,
                    phone_number BYTEA,
                    push_endpoint BYTEA,
                    full_name BYTEA,
                    date_of_birth BYTEA,
                    postal_address BYTEA,
                    document_number BYTEA,
                    jurisdiction BYTEA,
                    card_expires_on BYTEA,
                    phone_index BYTEA,
                    document_index BYTEA,
                    person_index BYTEA,
                    index_version BIGINT NOT NULL,
                    phone_verified_at BIGINT,
                    identity_verified_at BIGINT,
                    created_at BIGINT NOT NULL,
                    archived_at BIGINT,
                    erased_at BIGINT,
                    CHECK ((phone_number IS NULL) = (phone_index IS NULL)),
                    CHECK ((document_number IS NULL) = (document_index IS NULL)),
                    CHECK (suspended IS NULL OR assurance = 'none'),
                    CHECK (erased_at IS NULL OR (phone_number IS NULL AND document_number IS NULL))
                )
                """,
                """
                CREATE UNIQUE INDEX authenticated_users_by_phone ON authenticated_users (provider_id, phone_index)
                WHERE phone_index IS NOT NULL AND suspended IS NULL
                """,
                """
                CREATE UNIQUE INDEX authenticated_users_by_document ON authenticated_users (provider_id, document_index)
                WHERE document_index IS NOT NULL AND suspended IS NULL
                """,
                "CREATE INDEX authenticated_users_by_person ON authenticated_users (provider_id, person_index)",
                "CREATE INDEX authenticated_users_by_index_version ON authenticated_users (index_version, user_id)",
                "CREATE INDEX authenticated_users_by_identity ON authenticated_users (identity_verified_at, user_id)",
            ])
}
