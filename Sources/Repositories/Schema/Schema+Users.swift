extension Schema {
    /// Users, and their personal data, sealed under a key of each user.
    static let users = [
        // `held` is 1 if there may be bans on the user. Only then does a sign-in look for an active one.
        """
        CREATE TABLE users (
            id TEXT NOT NULL PRIMARY KEY,
            provider_id TEXT NOT NULL REFERENCES providers (id),
            external_id TEXT NOT NULL,
            assurance TEXT NOT NULL,
            assurance_until BIGINT,
            profile_index BYTEA,
            display_name BYTEA,
            avatar_url BYTEA,
            created_at BIGINT NOT NULL,
            generation BIGINT NOT NULL DEFAULT 0,
            held INTEGER NOT NULL,
            erased_at BIGINT,
            UNIQUE (provider_id, external_id)
        )
        """,
        "CREATE INDEX users_by_time ON users (created_at, id)",
        // Users whose rows are not all erased yet.
        """
        CREATE TABLE erasures (
            user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
            at BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE data_keys (
            user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
            wrapped BYTEA,
            wrapping_version BIGINT,
            erased_at BIGINT,
            CHECK ((wrapped IS NULL) = (wrapping_version IS NULL)),
            CHECK ((wrapped IS NULL) = (erased_at IS NOT NULL))
        )
        """,
        """
        CREATE INDEX data_keys_by_wrapping ON data_keys (wrapping_version, user_id)
        WHERE wrapping_version IS NOT NULL
        """,
        // The versions of the wrapping key that were put into force. No new data key is wrapped under an older version.
        "CREATE TABLE wrapping_versions (version BIGINT NOT NULL PRIMARY KEY)",
        """
        CREATE TABLE authenticated_users (
            user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
            provider_id TEXT NOT NULL REFERENCES providers (id),
            suspended TEXT,
            phone_index BYTEA NOT NULL,
            phone_number BYTEA NOT NULL,
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
        "CREATE INDEX authenticated_users_by_number ON authenticated_users (phone_index)",
        """
        CREATE INDEX authenticated_users_by_identity ON authenticated_users (identity_verified_at, user_id)
        WHERE identity_verified_at IS NOT NULL
        """,
        // The push endpoints of a user's devices, with the generations of the session that registered them.
        """
        CREATE TABLE push_endpoints (
            user_id TEXT NOT NULL REFERENCES users (id),
            device_id TEXT NOT NULL,
            provider_id TEXT NOT NULL,
            provider_key_id TEXT NOT NULL,
            application_id TEXT NOT NULL,
            sealed_endpoint BYTEA,
            sealed_call_endpoint BYTEA,
            registered_at BIGINT NOT NULL,
            user_generation BIGINT NOT NULL,
            device_generation BIGINT NOT NULL,
            provider_generation BIGINT NOT NULL,
            key_generation BIGINT NOT NULL,
            PRIMARY KEY (user_id, device_id),
            CHECK (sealed_endpoint IS NOT NULL OR sealed_call_endpoint IS NOT NULL)
        )
        """,
        "CREATE INDEX push_endpoints_by_device ON push_endpoints (device_id)",
        "CREATE INDEX push_endpoints_by_time ON push_endpoints (registered_at)",
        // A reviewer's decision may take effect later. Until then it can be undone, and the card stays in review.
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
            pending_status TEXT,
            effective_at BIGINT,
            CHECK (status IN ('verified', 'in_review', 'rejected')),
            CHECK (sealed_input IS NULL OR status = 'in_review'),
            CHECK ((pending_status IS NULL) = (effective_at IS NULL)),
            CHECK (pending_status IS NULL OR (status = 'in_review' AND decided_by IS NOT NULL)),
            CHECK (pending_status IN ('verified', 'rejected'))
        )
        """,
        "CREATE INDEX identity_cards_by_user ON identity_cards (user_id)",
        "CREATE INDEX identity_cards_by_document ON identity_cards (document_index)",
        "CREATE INDEX identity_cards_by_person ON identity_cards (person_index)",
        "CREATE INDEX identity_cards_in_review ON identity_cards (submitted_at, id) WHERE status = 'in_review'",
        "CREATE INDEX identity_cards_pending ON identity_cards (effective_at) WHERE effective_at IS NOT NULL",
        "CREATE INDEX identity_cards_with_input ON identity_cards (submitted_at) WHERE sealed_input IS NOT NULL",
        // An answer ends a presentation once, and deletes the key that opens it.
        """
        CREATE TABLE presentations (
            id TEXT NOT NULL PRIMARY KEY,
            user_id TEXT NOT NULL REFERENCES users (id),
            device_id TEXT NOT NULL,
            session_id TEXT NOT NULL,
            channel TEXT NOT NULL,
            wanted TEXT NOT NULL,
            state TEXT NOT NULL,
            nonce BYTEA NOT NULL,
            sealed_key BYTEA,
            origin TEXT NOT NULL,
            request_hash BYTEA UNIQUE,
            response_code_hash BYTEA UNIQUE,
            sealed_result BYTEA,
            reason TEXT,
            attempts BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            CHECK (channel IN ('dc_api', 'same_device')),
            CHECK ((channel = 'same_device') = (request_hash IS NOT NULL)),
            CHECK (state IN ('open', 'received', 'accepted', 'refused', 'expired')),
            CHECK ((state = 'open') = (sealed_key IS NOT NULL)),
            CHECK ((state = 'received') = (sealed_result IS NOT NULL)),
            CHECK ((state = 'received') = (response_code_hash IS NOT NULL))
        )
        """,
        "CREATE INDEX presentations_by_user ON presentations (user_id, expires_at)",
        "CREATE INDEX presentations_by_expiry ON presentations (expires_at)",
        // One byte: which ages are proved.
        """
        CREATE TABLE age_proofs (
            user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
            sealed_ages BYTEA NOT NULL,
            proven_at BIGINT NOT NULL
        )
        """,
    ]
}
