extension Schema {
    static let bans = [
        """
        CREATE TABLE bans (
            id TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL,
            scope TEXT NOT NULL,
            reason TEXT NOT NULL,
            actor TEXT NOT NULL,
            sealed_note BYTEA,
            note_version BIGINT,
            sealed_lift_note BYTEA,
            lift_note_version BIGINT,
            created_at BIGINT NOT NULL,
            ends_at BIGINT,
            lifted_at BIGINT,
            lifted_by TEXT,
            CHECK (kind IN ('user', 'phone', 'document', 'device')),
            CHECK (scope IN ('all', 'messaging')),
            CHECK ((lifted_at IS NULL) = (lifted_by IS NULL)),
            CHECK ((sealed_note IS NULL) = (note_version IS NULL)),
            CHECK ((sealed_lift_note IS NULL) = (lift_note_version IS NULL))
        )
        """,
        "CREATE INDEX bans_by_time ON bans (created_at)",
        // `subject` is the 16 bytes of an identifier or the 32 bytes of a digest. An entry that `goes_with_ban`
        // concerns an erased person. It is deleted as soon as the ban ends.
        """
        CREATE TABLE ban_holds (
            ban_id TEXT NOT NULL REFERENCES bans (id),
            kind TEXT NOT NULL,
            subject BYTEA NOT NULL,
            part TEXT NOT NULL,
            index_version BIGINT,
            ends_at BIGINT,
            goes_with_ban INTEGER NOT NULL,
            PRIMARY KEY (ban_id, kind, subject),
            CHECK (kind IN ('user', 'phone', 'document', 'device', 'device_key')),
            CHECK (part IN ('named', 'extended', 'holder')),
            CHECK ((kind IN ('phone', 'document')) = (index_version IS NOT NULL))
        )
        """,
        "CREATE INDEX ban_holds_by_subject ON ban_holds (kind, subject)",
        "CREATE INDEX ban_holds_by_version ON ban_holds (kind, index_version) WHERE index_version IS NOT NULL",
        "CREATE INDEX ban_holds_going ON ban_holds (ban_id) WHERE goes_with_ban = 1",
    ]
}
