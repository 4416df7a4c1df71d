extension Schema {
    /// Providers with their keys, apps, issuers and resource URLs, and the receivers of events about their users.
    static let providers = [
        """
        CREATE TABLE providers (
            id TEXT NOT NULL PRIMARY KEY,
            slug TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            account TEXT,
            avatar_hosts TEXT NOT NULL,
            token_algorithm TEXT NOT NULL,
            issuer TEXT,
            audience TEXT,
            id_token_algorithms TEXT,
            ends_removed_keys INTEGER NOT NULL,
            created_at BIGINT NOT NULL,
            disabled_at BIGINT,
            generation BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE UNIQUE INDEX providers_by_issuer ON providers (issuer, audience) WHERE issuer IS NOT NULL",
        // Further clients of a provider's issuer: audiences in addition to the first, and parties that may request ID
        // tokens.
        """
        CREATE TABLE provider_clients (
            provider_id TEXT NOT NULL REFERENCES providers (id),
            role TEXT NOT NULL,
            position BIGINT NOT NULL,
            client TEXT NOT NULL,
            issuer TEXT NOT NULL,
            PRIMARY KEY (provider_id, role, position)
        )
        """,
        "CREATE UNIQUE INDEX provider_clients_by_audience ON provider_clients (issuer, client) WHERE role = 'audience'",
        """
        CREATE TABLE provider_keys (
            id TEXT NOT NULL PRIMARY KEY,
            provider_id TEXT NOT NULL REFERENCES providers (id),
            algorithm TEXT NOT NULL,
            subject_public_key_info BYTEA NOT NULL,
            key_hash BYTEA NOT NULL UNIQUE,
            origin TEXT NOT NULL,
            added_by TEXT,
            issuer_key_id TEXT,
            created_at BIGINT NOT NULL,
            retired_at BIGINT,
            revoked_at BIGINT,
            generation BIGINT NOT NULL DEFAULT 0
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
        // When the keys of an issuer were last fetched.
        """
        CREATE TABLE issuers (
            issuer TEXT NOT NULL PRIMARY KEY,
            attempted_at BIGINT NOT NULL,
            read_at BIGINT NOT NULL,
            fresh_until BIGINT NOT NULL,
            failure TEXT
        )
        """,
        "CREATE INDEX issuers_by_attempt ON issuers (attempted_at, issuer)",
        // The URLs by which devices name a provider.
        """
        CREATE TABLE provider_resources (
            canonical_url TEXT NOT NULL PRIMARY KEY,
            url TEXT NOT NULL,
            provider_id TEXT NOT NULL REFERENCES providers (id),
            added_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX provider_resources_by_provider ON provider_resources (provider_id, added_at, canonical_url)",
        // The callers of wallets for an app: origins of web pages, and native apps.
        """
        CREATE TABLE wallet_origins (
            application_id TEXT NOT NULL REFERENCES applications (id),
            origin TEXT NOT NULL,
            PRIMARY KEY (application_id, origin)
        )
        """,
        // The apps of Apple's platforms and of Android whose devices may attest their keys.
        """
        CREATE TABLE attested_apps (
            application_id TEXT NOT NULL REFERENCES applications (id),
            app TEXT NOT NULL,
            PRIMARY KEY (application_id, app)
        )
        """,
        // Lists of issuers of credentials, as their providers signed them.
        """
        CREATE TABLE trust_lists (
            url TEXT NOT NULL PRIMARY KEY,
            body BYTEA NOT NULL,
            dated_at BIGINT NOT NULL,
            next_update BIGINT,
            fetched_at BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE provider_webhooks (
            provider_id TEXT NOT NULL PRIMARY KEY REFERENCES providers (id),
            url TEXT NOT NULL,
            failures BIGINT NOT NULL DEFAULT 0,
            resting_until BIGINT
        )
        """,
        // Streams of security events (SSF 1.0).
        """
        CREATE TABLE event_streams (
            id TEXT NOT NULL PRIMARY KEY,
            provider_id TEXT NOT NULL REFERENCES providers (id),
            push_url TEXT,
            approved_url TEXT,
            sealed_authorization BYTEA,
            authorization_version BIGINT,
            events TEXT,
            description TEXT,
            algorithm TEXT NOT NULL,
            subject_form TEXT NOT NULL,
            status TEXT NOT NULL,
            status_reason TEXT,
            created_at BIGINT NOT NULL,
            verified_at BIGINT,
            active_at BIGINT,
            holds INTEGER NOT NULL,
            failures BIGINT NOT NULL DEFAULT 0,
            resting_until BIGINT,
            CHECK ((sealed_authorization IS NULL) = (authorization_version IS NULL))
        )
        """,
        "CREATE INDEX event_streams_by_provider ON event_streams (provider_id, created_at, id)",
        // Users that a receiver removed from its stream. Their events are not sent there.
        """
        CREATE TABLE event_stream_exclusions (
            stream_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            PRIMARY KEY (stream_id, user_id)
        )
        """,
        "CREATE INDEX event_stream_exclusions_by_user ON event_stream_exclusions (user_id)",
    ]
}
