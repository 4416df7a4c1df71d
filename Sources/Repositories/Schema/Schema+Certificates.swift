extension Schema {
    /// Devices, the certificates that the internal CA issued to them, and revocation lists.
    static let certificates = [
        // `held` is 1 if there may be bans on the device. Only then does a sign-in look for an active one.
        """
        CREATE TABLE devices (
            id TEXT NOT NULL PRIMARY KEY,
            user_agent TEXT,
            presence_key TEXT,
            created_at BIGINT NOT NULL,
            generation BIGINT NOT NULL DEFAULT 0,
            held INTEGER NOT NULL
        )
        """,
        "CREATE INDEX devices_by_time ON devices (created_at, id)",
        // `unlisted` is 1 for a certificate that a renewal with the same key superseded: it is no longer valid, and no
        // revocation list needs to name it. `authority` is the digest of the issuing authority's key.
        """
        CREATE TABLE certificates (
            thumbprint BYTEA NOT NULL PRIMARY KEY,
            serial TEXT NOT NULL UNIQUE,
            device_id TEXT NOT NULL REFERENCES devices (id),
            key_hash BYTEA NOT NULL,
            subject_public_key_info BYTEA NOT NULL,
            authority BYTEA NOT NULL,
            not_before BIGINT NOT NULL,
            not_after BIGINT NOT NULL,
            issued_at BIGINT NOT NULL,
            replaces TEXT,
            attestation TEXT NOT NULL DEFAULT 'none',
            first_seen_at BIGINT,
            revoked_at BIGINT,
            revocation_reason TEXT,
            unlisted INTEGER NOT NULL DEFAULT 0,
            CHECK ((revoked_at IS NULL) = (revocation_reason IS NULL))
        )
        """,
        "CREATE INDEX certificates_by_device ON certificates (device_id)",
        "CREATE INDEX certificates_by_key ON certificates (key_hash)",
        "CREATE INDEX certificates_by_replaced ON certificates (replaces) WHERE replaces IS NOT NULL",
        "CREATE INDEX certificates_by_time ON certificates (issued_at, serial)",
        "CREATE INDEX certificates_by_end ON certificates (not_after)",
        "CREATE INDEX certificates_revoked ON certificates (revoked_at) WHERE revoked_at IS NOT NULL",
        """
        CREATE INDEX certificates_listed ON certificates (revoked_at, serial)
        WHERE revoked_at IS NOT NULL AND unlisted = 0
        """,
        """
        CREATE INDEX certificates_unseen ON certificates (issued_at)
        WHERE first_seen_at IS NULL AND revoked_at IS NULL
        """,
        "CREATE TABLE revoked_keys (key_hash BYTEA NOT NULL PRIMARY KEY)",
        // `revocations` is the value of the counter when the list was made: the list is complete while they are equal.
        // Each authority signs its own list. All lists have the same entries, because serial numbers are random.
        """
        CREATE TABLE revocation_lists (
            authority BYTEA NOT NULL,
            number BIGINT NOT NULL,
            der BYTEA NOT NULL,
            entries BIGINT NOT NULL,
            this_update BIGINT NOT NULL,
            revocations BIGINT NOT NULL,
            PRIMARY KEY (authority, number)
        )
        """,
        "CREATE TABLE revocation_counter (id INTEGER NOT NULL PRIMARY KEY, value BIGINT NOT NULL)",
        "INSERT INTO revocation_counter (id, value) VALUES (1, 0)",
        """
        CREATE TABLE recent_certifications (
            request_hash BYTEA NOT NULL PRIMARY KEY,
            serial TEXT NOT NULL,
            certificate TEXT NOT NULL,
            places TEXT,
            expires_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX recent_certifications_by_serial ON recent_certifications (serial)",
        "CREATE INDEX recent_certifications_by_expiry ON recent_certifications (expires_at)",
        // What the makers of devices attested. `key_id`, `public_key`, `counter` and `environment` are those of App Attest.
        // `serials` are those of an Android key's chain, with spaces between them.
        """
        CREATE TABLE device_attestations (
            device_id TEXT NOT NULL PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            level TEXT NOT NULL,
            app TEXT NOT NULL,
            key_id BYTEA UNIQUE,
            public_key BYTEA,
            counter BIGINT,
            environment TEXT,
            serials TEXT,
            patch_level BIGINT,
            attested_at BIGINT NOT NULL,
            checked_at BIGINT NOT NULL,
            distrusted_at BIGINT,
            CHECK ((kind = 'app_attest') = (key_id IS NOT NULL)),
            CHECK ((kind = 'android_key') = (serials IS NOT NULL))
        )
        """,
        """
        CREATE INDEX device_attestations_unchecked ON device_attestations (checked_at)
        WHERE serials IS NOT NULL AND distrusted_at IS NULL
        """,
        // Google's list of revoked certificates of key stores, and the times of its fetches.
        """
        CREATE TABLE attestation_lists (
            id INTEGER NOT NULL PRIMARY KEY,
            document BYTEA NOT NULL,
            changed_at BIGINT NOT NULL,
            read_at BIGINT NOT NULL,
            attempted_at BIGINT NOT NULL,
            failure TEXT
        )
        """,
        // Users whose providers must still be notified of a revoked certificate.
        """
        CREATE TABLE certificate_notices (
            serial TEXT NOT NULL,
            user_id TEXT NOT NULL,
            provider_id TEXT NOT NULL,
            PRIMARY KEY (serial, user_id)
        )
        """,
    ]
}
