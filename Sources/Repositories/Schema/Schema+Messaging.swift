extension Schema {
    /// Streams of messages, each with its own key, and the changes that users synchronize.
    static let messaging = [
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
            CHECK (kind IN ('direct', 'conversation', 'forum', 'call')),
            CHECK ((wrapped IS NULL) = (wrapping_version IS NULL)),
            CHECK ((wrapped IS NULL) = (deleted_at IS NOT NULL))
        )
        """,
        "CREATE INDEX streams_by_wrapping ON streams (wrapping_version, id) WHERE wrapping_version IS NOT NULL",
        """
        CREATE INDEX streams_forums ON streams (provider_id, changed_at, id)
        WHERE kind = 'forum' AND deleted_at IS NULL
        """,
        "CREATE INDEX streams_by_creator ON streams (created_by) WHERE created_by IS NOT NULL",
        "CREATE INDEX streams_deleted ON streams (deleted_at, id) WHERE deleted_at IS NOT NULL AND is_emptied = 0",
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
        // The owner is the stream for shared metadata, and a member for that member's private metadata.
        """
        CREATE TABLE stream_metadata (
            stream_id TEXT NOT NULL REFERENCES streams (id),
            owner TEXT NOT NULL,
            name TEXT NOT NULL,
            value BYTEA NOT NULL,
            PRIMARY KEY (stream_id, owner, name)
        )
        """,
        """
        CREATE TABLE stream_events (
            stream_id TEXT NOT NULL REFERENCES streams (id),
            sequence BIGINT NOT NULL,
            event_id TEXT NOT NULL,
            sender_id TEXT REFERENCES users (id),
            sent_at BIGINT NOT NULL,
            in_reply_to TEXT,
            thread_id TEXT,
            size BIGINT NOT NULL,
            sealed_body BYTEA,
            kept_until BIGINT,
            PRIMARY KEY (stream_id, sequence),
            UNIQUE (stream_id, event_id)
        )
        """,
        """
        CREATE INDEX stream_events_by_sender ON stream_events (sender_id, sent_at, stream_id, sequence)
        WHERE sender_id IS NOT NULL
        """,
        // For a restore, which reads only deleted messages.
        "CREATE INDEX stream_events_deleted ON stream_events (stream_id, sequence) WHERE sealed_body IS NULL",
        // Shared metadata of messages, and what readers store with a message for themselves. A reader's row without
        // metadata means that the reader deleted the message for the reader only.
        """
        CREATE TABLE stream_event_metadata (
            stream_id TEXT NOT NULL REFERENCES streams (id),
            sequence BIGINT NOT NULL,
            writer_id TEXT REFERENCES users (id),
            size BIGINT NOT NULL,
            sealed_metadata BYTEA NOT NULL,
            PRIMARY KEY (stream_id, sequence)
        )
        """,
        """
        CREATE INDEX stream_event_metadata_by_writer ON stream_event_metadata (writer_id, stream_id, sequence)
        WHERE writer_id IS NOT NULL
        """,
        """
        CREATE TABLE stream_event_readers (
            stream_id TEXT NOT NULL REFERENCES streams (id),
            sequence BIGINT NOT NULL,
            user_id TEXT NOT NULL REFERENCES users (id),
            size BIGINT NOT NULL,
            sealed_metadata BYTEA,
            PRIMARY KEY (stream_id, sequence, user_id)
        )
        """,
        "CREATE INDEX stream_event_readers_by_user ON stream_event_readers (user_id, stream_id, sequence)",
        // For a restore, which reads only deleted messages.
        """
        CREATE INDEX stream_event_readers_deleted ON stream_event_readers (stream_id, sequence)
        WHERE sealed_metadata IS NULL
        """,
        // Messages that are deleted when all active devices have them, or at that time.
        """
        CREATE INDEX stream_events_awaited ON stream_events (stream_id, sequence)
        WHERE kept_until IS NOT NULL AND sealed_body IS NOT NULL
        """,
        """
        CREATE INDEX stream_events_by_expiry ON stream_events (kept_until)
        WHERE kept_until IS NOT NULL AND sealed_body IS NOT NULL
        """,
        // Users whose messages are not stored longer than needed.
        """
        CREATE TABLE storage_opt_outs (
            user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
            since BIGINT NOT NULL
        )
        """,
        // The last message of a stream that is on a device. A row is new until maintenance has read it.
        """
        CREATE TABLE stream_deliveries (
            stream_id TEXT NOT NULL REFERENCES streams (id),
            user_id TEXT NOT NULL REFERENCES users (id),
            device_id TEXT NOT NULL,
            through BIGINT NOT NULL,
            is_new INTEGER NOT NULL,
            PRIMARY KEY (stream_id, user_id, device_id)
        )
        """,
        "CREATE INDEX stream_deliveries_new ON stream_deliveries (stream_id) WHERE is_new = 1",
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
        "CREATE INDEX user_changes_tagged ON user_changes (at) WHERE kind = 'UPDATE_TAGS' AND target <> stream_id",
        "CREATE INDEX user_changes_notified ON user_changes (at) WHERE kind = 'NOTIFICATION'",
        // When a user was online the last time. There is no row for a user who never was and has hidden nothing.
        """
        CREATE TABLE presences (
            user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
            is_hidden INTEGER NOT NULL,
            seen_at BIGINT
        )
        """,
        "CREATE INDEX presences_by_age ON presences (seen_at) WHERE is_hidden = 0",
        // The users of each node. They are online while the node is live.
        """
        CREATE TABLE online_users (
            user_id TEXT NOT NULL REFERENCES users (id),
            node_id TEXT NOT NULL,
            PRIMARY KEY (user_id, node_id)
        )
        """,
        "CREATE INDEX online_users_by_node ON online_users (node_id, user_id)",
    ]
}
