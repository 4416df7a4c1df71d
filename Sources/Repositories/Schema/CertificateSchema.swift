import Database

extension Schema {
    /// What a revocation list names, in its order.
    static let listedCertificates = Migration(
        identifier: 26, name: "index of what a revocation list names",
        index: TableIndex(
            "certificates_listed", on: "certificates",
            "(revoked_at, serial) WHERE revoked_at IS NOT NULL AND unlisted = 0"))

    /// What keeps certificates bounded: repeated requests, the counter that says whether a revocation list is still whole,
    /// and purging, also of the audit log.
    static let certificateUpkeep = Migration(
        identifier: 17,
        name: "repeated certification requests, counted revocations, purged certificates and audit entries",
        statements: [
            // Superseded by a renewal with the same key: it is not valid any more, and no list needs to say so.
            "ALTER TABLE certificates ADD COLUMN unlisted INTEGER NOT NULL DEFAULT 0",
            "CREATE INDEX certificates_by_end ON certificates (not_after)",
            """
            CREATE INDEX certificates_unseen ON certificates (issued_at)
            WHERE first_seen_at IS NULL AND revoked_at IS NULL
            """,
            """
            CREATE TABLE recent_certifications (
                request_hash BYTEA NOT NULL PRIMARY KEY,
                serial TEXT NOT NULL,
                certificate TEXT NOT NULL,
                expires_at BIGINT NOT NULL
            )
            """,
            "CREATE INDEX recent_certifications_by_expiry ON recent_certifications (expires_at)",
            "CREATE TABLE revoked_keys (key_hash BYTEA NOT NULL PRIMARY KEY)",
            "CREATE TABLE revocation_counter (id INTEGER NOT NULL PRIMARY KEY, value BIGINT NOT NULL)",
            "INSERT INTO revocation_counter (id, value) VALUES (1, 0)",
            "ALTER TABLE revocation_lists ADD COLUMN revocations BIGINT NOT NULL DEFAULT -1",
            "CREATE TABLE audit_anchors (sequence BIGINT NOT NULL PRIMARY KEY, token TEXT NOT NULL)",
        ])
}
