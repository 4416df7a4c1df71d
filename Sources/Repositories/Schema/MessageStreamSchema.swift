import Database

extension Schema {
    /// Streams of messages between users, each under a key of its own, and what users synchronize of them.
    static let messageStreams = Migration(
        identifier: 49, name: "streams of messages",
        statements: [
            """
            CREATE TABLE streams (
                id TEXT NOT NULL PRIMARY KEY,
                provider_id TEXT NOT NULL REFERENCES providers (id),
                kind TEXT NOT NULL,
                created_by TEXT REFERENCES users (id),
                wrapped BYTEA,
                wrapping_version BIGINT,
                sealed_opening BYTEA,
                sealed_metadata BYTEA,
                last_sequence BIGINT NOT NULL,
                created_at BIGINT NOT NULL,
                changed_at BIGINT NOT NULL,
                deleted_at BIGINT,
                is_emptied INTEGER NOT NULL DEFAULT 0,
                CHECK (kind IN ('direct', 'conversation', 'forum')),
                CHECK ((wrapped IS NULL) = (wrapping_version IS NULL)),
                CHECK ((wrapped IS NULL) = (deleted_at IS NOT NULL))
            )
            """,
            """
            CREATE INDEX streams_by_wrapping ON streams (wrapping_version, id)
            WHERE wrapping_version IS NOT NULL
            """,
            """
            CREATE INDEX streams_forums ON streams (provider_id, changed_at, id)
            WHERE kind = 'forum' AND deleted_at IS NULL
            """,
            "CREATE INDEX streams_by_creator ON streams (created_by) WHERE created_by IS NOT NULL",
            """
            CREATE INDEX streams_deleted ON streams (deleted_at, id)
            WHERE deleted_at IS NOT NULL AND is_emptied = 0
            """,
            """
            CREATE TABLE stream_members (
                stream_id TEXT NOT NULL REFERENCES streams (id),
                user_id TEXT NOT NULL REFERENCES users (id),
                joined_at_sequence BIGINT NOT NULL,
                left_at_sequence BIGINT,
                delivered_through BIGINT NOT NULL,
                read_through BIGINT NOT NULL,
                sealed_metadata BYTEA,
                PRIMARY KEY (stream_id, user_id),
                CHECK (read_through <= delivered_through)
            )
            """,
            "CREATE INDEX stream_members_by_user ON stream_members (user_id, stream_id)",
            """
            CREATE TABLE stream_events (
                stream_id TEXT NOT NULL REFERENCES streams (id),
                sequence BIGINT NOT NULL,
                event_id TEXT NOT NULL,
                kind TEXT NOT NULL,
                sender_id TEXT REFERENCES users (id),
                sent_at BIGINT NOT NULL,
                in_reply_to TEXT,
                thread_id TEXT,
                size BIGINT NOT NULL,
                sealed_body BYTEA,
                PRIMARY KEY (stream_id, sequence),
                UNIQUE (stream_id, event_id)
            )
            """,
            """
            CREATE INDEX stream_events_by_sender ON stream_events (sender_id, sent_at, stream_id, sequence)
            WHERE sender_id IS NOT NULL
            """,
            """
            CREATE TABLE stream_users (
                user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
                last_change BIGINT NOT NULL,
                streams BIGINT NOT NULL,
                stored_bytes BIGINT NOT NULL
            )
            """,
            """
            CREATE TABLE user_changes (
                user_id TEXT NOT NULL REFERENCES users (id),
                kind TEXT NOT NULL,
                target TEXT NOT NULL,
                stream_id TEXT NOT NULL,
                sequence BIGINT NOT NULL,
                at BIGINT NOT NULL,
                PRIMARY KEY (user_id, kind, target)
            )
            """,
            "CREATE UNIQUE INDEX user_changes_by_sequence ON user_changes (user_id, sequence)",
            "CREATE INDEX user_changes_by_kind ON user_changes (user_id, kind, sequence)",
            "CREATE INDEX user_changes_deleted ON user_changes (at) WHERE kind = 'DELETED'",
        ])

    /// A restore reads what was deleted, and not every message for it.
    static let deletedMessages = Migration(
        identifier: 56, name: "an index of deleted messages",
        statements: [
            """
            CREATE INDEX stream_events_deleted ON stream_events (stream_id, sequence) WHERE sealed_body IS NULL
            """
        ])

    /// Streams that set up a call. SQLite changes no constraint of a table that stands and that others refer to, so that the
    /// kind has a mark beside it.
    static let callStreams = Migration(
        identifier: 63, name: "streams that set up a call",
        statements: ["ALTER TABLE streams ADD COLUMN is_call INTEGER NOT NULL DEFAULT 0"])

    /// What users synchronize of notifications, by age: it is forgotten with them.
    static let notifications = Migration(
        identifier: 64, name: "notifications to users",
        statements: [
            "CREATE INDEX user_changes_notified ON user_changes (at) WHERE kind = 'NOTIFICATION'"
        ])
}
