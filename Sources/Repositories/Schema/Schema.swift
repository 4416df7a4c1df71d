import Database

/// The tables of the service, as migrations that every engine runs in order. The schema holds the invariants.
///
/// Identifiers are lower-case UUID text, times are milliseconds since 1970 (BIGINT), digests are 32 bytes.
package enum Schema {
    /// All migrations; a released one is never edited.
    package static let migrations: [Migration] = [
        Migration(
            identifier: 1, name: "certified devices, providers, users and their sessions",
            statements: [
                """
                CREATE TABLE devices (
                    id TEXT NOT NULL PRIMARY KEY,
                    user_agent TEXT,
                    presence_key TEXT,
                    created_at BIGINT NOT NULL
                )
                """,
                """
                CREATE TABLE certificates (
                    thumbprint BYTEA NOT NULL PRIMARY KEY,
                    serial TEXT NOT NULL UNIQUE,
                    device_id TEXT NOT NULL REFERENCES devices (id),
                    key_hash BYTEA NOT NULL,
                    subject_public_key_info BYTEA NOT NULL,
                    not_before BIGINT NOT NULL,
                    not_after BIGINT NOT NULL,
                    issued_at BIGINT NOT NULL,
                    replaces TEXT,
                    first_seen_at BIGINT,
                    revoked_at BIGINT,
                    revocation_reason TEXT,
                    CHECK ((revoked_at IS NULL) = (revocation_reason IS NULL))
                )
                """,
                "CREATE INDEX certificates_by_device ON certificates (device_id)",
                "CREATE INDEX certificates_by_key ON certificates (key_hash)",
                "CREATE INDEX certificates_by_replaced ON certificates (replaces) WHERE replaces IS NOT NULL",
                "CREATE INDEX certificates_revoked ON certificates (revoked_at) WHERE revoked_at IS NOT NULL",
                """
                CREATE TABLE revocation_lists (
                    number BIGINT NOT NULL PRIMARY KEY,
                    der BYTEA NOT NULL,
                    entries BIGINT NOT NULL,
                    this_update BIGINT NOT NULL,
                    next_update BIGINT NOT NULL
                )
                """,
                """
                CREATE TABLE providers (
                    id TEXT NOT NULL PRIMARY KEY,
                    slug TEXT NOT NULL UNIQUE,
                    name TEXT NOT NULL,
                    account TEXT,
                    avatar_hosts TEXT NOT NULL,
                    created_at BIGINT NOT NULL,
                    disabled_at BIGINT
                )
                """,
                """
                CREATE TABLE provider_keys (
                    id TEXT NOT NULL PRIMARY KEY,
                    provider_id TEXT NOT NULL REFERENCES providers (id),
                    algorithm TEXT NOT NULL,
                    subject_public_key_info BYTEA NOT NULL,
                    key_hash BYTEA NOT NULL UNIQUE,
                    origin TEXT NOT NULL,
                    created_at BIGINT NOT NULL,
                    retired_at BIGINT,
                    revoked_at BIGINT
                )
                """,
                "CREATE INDEX provider_keys_by_provider ON provider_keys (provider_id)",
                """
                CREATE TABLE applications (
                    id TEXT NOT NULL PRIMARY KEY,
                    provider_id TEXT NOT NULL REFERENCES providers (id),
                    name TEXT NOT NULL,
                    created_at BIGINT NOT NULL
                )
                """,
                "CREATE INDEX applications_by_provider ON applications (provider_id)",
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
                    UNIQUE (provider_id, external_id)
                )
                """,
                """
                CREATE TABLE spent_nonces (
                    expires_at BIGINT NOT NULL,
                    nonce BYTEA NOT NULL,
                    PRIMARY KEY (expires_at, nonce)
                )
                """,
                """
                CREATE TABLE spent_identifiers (
                    identifier TEXT NOT NULL PRIMARY KEY,
                    expires_at BIGINT NOT NULL
                )
                """,
                """
                CREATE TABLE sessions (
                    id TEXT NOT NULL PRIMARY KEY,
                    token_hash BYTEA NOT NULL UNIQUE,
                    user_id TEXT NOT NULL REFERENCES users (id),
                    provider_id TEXT NOT NULL,
                    external_id TEXT NOT NULL,
                    application_id TEXT NOT NULL,
                    device_id TEXT NOT NULL,
                    thumbprint BYTEA NOT NULL,
                    provider_key_id TEXT NOT NULL,
                    state TEXT NOT NULL,
                    created_at BIGINT NOT NULL,
                    renewed_at BIGINT NOT NULL,
                    last_used_at BIGINT NOT NULL,
                    challenged_at BIGINT,
                    ended_at BIGINT,
                    end_reason TEXT,
                    CHECK ((state = 'unauthenticated') = (ended_at IS NOT NULL)),
                    CHECK ((state = 'challenged') = (challenged_at IS NOT NULL) OR state = 'unauthenticated')
                )
                """,
                "CREATE INDEX sessions_by_user ON sessions (user_id, device_id)",
                "CREATE INDEX sessions_by_device ON sessions (device_id)",
                """
                CREATE TABLE rates (
                    key TEXT NOT NULL PRIMARY KEY,
                    arrival BIGINT NOT NULL
                )
                """,
                "CREATE TABLE change_counter (id INTEGER NOT NULL PRIMARY KEY, value BIGINT NOT NULL)",
                "INSERT INTO change_counter (id, value) VALUES (1, 0)",
                """
                CREATE TABLE changes (
                    sequence BIGINT NOT NULL PRIMARY KEY,
                    kind TEXT NOT NULL,
                    key TEXT NOT NULL,
                    at BIGINT NOT NULL
                )
                """,
                """
                CREATE TABLE audit_entries (
                    id TEXT NOT NULL PRIMARY KEY,
                    at BIGINT NOT NULL,
                    event TEXT NOT NULL,
                    subject TEXT NOT NULL,
                    actor TEXT NOT NULL,
                    detail TEXT
                )
                """,
                "CREATE INDEX audit_entries_by_time ON audit_entries (at)",
            ]),
        personalData, phoneVerification, bans, auditChain, authorizations,
        providerWebhooks, wrappingVersions, nodes, subjects, providerStanding, certificateUpkeep, phoneTallies,
        openSessionIndexes, gates, openSessionsByKey, changeLog, changeLogPositions, maintenanceTasks,
        listedCertificates, keyFingerprints, changeLogFloor, formerNonces, tokenAlgorithms, providerResources,
        eventStreams, messagesWaiting, noMixedOutboxIndex, cutsByTurn, issuers, storeSettings, newestFirst,
        endedAuthorizations, noIndexesOfCountedTexts, messageStreams, noTokenIndex, eventSubjects, deletedMessages,
        outboxTurns, permissionCuts, openPermissionsByRecipient, findableAddresses, contactDiscovery, callStreams,
        notifications, operatorIndexes, noReplacedIndexes, outboxOwners, outboxTurnIndexes,
    ]
}
