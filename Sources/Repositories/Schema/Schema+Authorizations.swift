extension Schema {
    /// Authorizations between users with a row for each state that they entered, and blocks.
    static let authorizations = [
        """
        CREATE TABLE authorizations (
            id TEXT NOT NULL PRIMARY KEY,
            provider_id TEXT NOT NULL REFERENCES providers (id),
            asker_id TEXT REFERENCES users (id),
            accepter_id TEXT REFERENCES users (id),
            asker_generation BIGINT NOT NULL,
            accepter_generation BIGINT NOT NULL,
            target BYTEA NOT NULL,
            is_delivered INTEGER NOT NULL,
            state TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            changed_at BIGINT NOT NULL,
            sealed_to BYTEA,
            sealed_event BYTEA,
            replaced_by TEXT,
            CHECK (state IN ('REQUEST', 'APPROVAL', 'REJECTED', 'CANCELLED', 'EXPIRED', 'BANNED')),
            CHECK (is_delivered = 0 OR accepter_id IS NOT NULL),
            CHECK (state <> 'APPROVAL' OR (asker_id IS NOT NULL AND is_delivered = 1)),
            CHECK (replaced_by IS NULL OR state = 'CANCELLED')
        )
        """,
        """
        CREATE UNIQUE INDEX authorizations_open ON authorizations (asker_id, target)
        WHERE state IN ('REQUEST', 'APPROVAL')
        """,
        // One permission for two users, no matter which of the two requested it.
        """
        CREATE UNIQUE INDEX authorizations_of_pair ON authorizations (
            (CASE WHEN asker_id < accepter_id THEN asker_id ELSE accepter_id END),
            (CASE WHEN asker_id < accepter_id THEN accepter_id ELSE asker_id END))
        WHERE state = 'APPROVAL'
        """,
        "CREATE INDEX authorizations_by_asker ON authorizations (asker_id, created_at, id)",
        "CREATE INDEX authorizations_by_accepter ON authorizations (accepter_id, created_at, id)",
        // The open authorizations of a recipient, so that a batch that ends some reads no others, and those of two users.
        """
        CREATE INDEX authorizations_open_by_accepter ON authorizations (accepter_id, asker_id)
        WHERE state IN ('REQUEST', 'APPROVAL')
        """,
        "CREATE INDEX authorizations_unanswered ON authorizations (expires_at) WHERE state = 'REQUEST'",
        "CREATE INDEX authorizations_ended ON authorizations (changed_at) WHERE state NOT IN ('REQUEST', 'APPROVAL')",
        """
        CREATE TABLE authorization_rows (
            authorization_id TEXT NOT NULL REFERENCES authorizations (id) ON DELETE CASCADE,
            type TEXT NOT NULL,
            at BIGINT NOT NULL,
            recipient_id TEXT,
            sent INTEGER,
            message_id TEXT,
            PRIMARY KEY (authorization_id, type),
            CHECK ((recipient_id IS NULL) = (sent IS NULL))
        )
        """,
        """
        CREATE INDEX authorization_rows_unsent ON authorization_rows (recipient_id, at)
        WHERE sent = 0 AND message_id IS NULL
        """,
        """
        CREATE INDEX authorization_rows_by_recipient ON authorization_rows (recipient_id)
        WHERE recipient_id IS NOT NULL
        """,
        // All permissions and open requests of a user end at once: see ``PermissionRevocationRepository``.
        """
        CREATE TABLE permission_cuts (
            user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
            generation BIGINT NOT NULL,
            state TEXT NOT NULL,
            at BIGINT NOT NULL,
            due_at BIGINT,
            CHECK (state IN ('CANCELLED', 'BANNED'))
        )
        """,
        "CREATE INDEX permission_cuts_due ON permission_cuts (due_at) WHERE due_at IS NOT NULL",
        """
        CREATE TABLE blocks (
            blocker_id TEXT NOT NULL REFERENCES users (id),
            blocked_id TEXT NOT NULL REFERENCES users (id),
            created_at BIGINT NOT NULL,
            authorization_id TEXT,
            PRIMARY KEY (blocker_id, blocked_id)
        )
        """,
    ]
}
