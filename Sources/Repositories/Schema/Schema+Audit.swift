extension Schema {
    /// The people who administer the service, and the digests of their certificates. A removed administrator stays,
    /// because the audit log names them and their account must not get its rights back.
    static let administrators = [
        """
        CREATE TABLE admins (
            id TEXT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            role TEXT NOT NULL,
            account TEXT UNIQUE,
            created_at BIGINT NOT NULL,
            removed_at BIGINT
        )
        """,
        // `authority` is the digest of the issuing authority's key.
        """
        CREATE TABLE admin_certificates (
            thumbprint BYTEA NOT NULL PRIMARY KEY,
            admin_id TEXT NOT NULL REFERENCES admins (id),
            not_after BIGINT NOT NULL,
            authority BYTEA NOT NULL,
            revoked_at BIGINT
        )
        """,
        "CREATE INDEX admin_certificates_by_admin ON admin_certificates (admin_id)",
        // Acts that wait for a second administrator. Rows are deleted after a day.
        """
        CREATE TABLE waiting_acts (
            id TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            content TEXT NOT NULL,
            users BIGINT NOT NULL,
            reason TEXT,
            admin_id TEXT NOT NULL REFERENCES admins (id),
            created_at BIGINT NOT NULL,
            is_urgent INTEGER NOT NULL,
            CHECK (kind IN ('ban', 'erasure', 'disabling'))
        )
        """,
    ]

    /// The audit log, which is a hash chain.
    static let audit = [
        // Entries are inserted without a number, so that writers do not wait for each other. The sealer adds number and
        // digest.
        """
        CREATE TABLE audit_entries (
            id TEXT NOT NULL PRIMARY KEY,
            at BIGINT NOT NULL,
            event TEXT NOT NULL,
            subject TEXT NOT NULL,
            actor TEXT NOT NULL,
            reason TEXT,
            detail TEXT,
            sequence BIGINT,
            digest BYTEA,
            CHECK ((digest IS NULL) = (sequence IS NULL))
        )
        """,
        "CREATE INDEX audit_entries_unchained ON audit_entries (at, id) WHERE sequence IS NULL",
        "CREATE UNIQUE INDEX audit_entries_by_sequence ON audit_entries (sequence) WHERE sequence IS NOT NULL",
        "CREATE INDEX audit_entries_by_event ON audit_entries (event, sequence) WHERE sequence IS NOT NULL",
        "CREATE INDEX audit_entries_by_subject ON audit_entries (subject, sequence) WHERE sequence IS NOT NULL",
        "CREATE INDEX audit_entries_by_actor ON audit_entries (actor, sequence) WHERE sequence IS NOT NULL",
        """
        CREATE TABLE audit_head (
            id INTEGER NOT NULL PRIMARY KEY,
            sequence BIGINT NOT NULL,
            digest BYTEA,
            signed BIGINT NOT NULL,
            signed_at BIGINT NOT NULL,
            holder TEXT,
            leased_until BIGINT NOT NULL,
            CHECK ((digest IS NULL) = (sequence = 0)),
            CHECK (signed <= sequence)
        )
        """,
        "INSERT INTO audit_head (id, sequence, signed, signed_at, leased_until) VALUES (1, 0, 0, 0, 0)",
        "CREATE TABLE audit_checkpoints (sequence BIGINT NOT NULL PRIMARY KEY, token TEXT NOT NULL)",
        "CREATE TABLE audit_anchors (sequence BIGINT NOT NULL PRIMARY KEY, token TEXT NOT NULL)",
    ]
}
