import Database

extension Schema {
    /// Streams of security events (SSF 1.0), and the index by which a receiver polls what waits in one.
    static let eventStreams = Migration(
        identifier: 36, name: "streams of security events",
        statements: [
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
                holds INTEGER NOT NULL,
                failures BIGINT NOT NULL DEFAULT 0,
                resting_until BIGINT,
                CHECK ((sealed_authorization IS NULL) = (authorization_version IS NULL))
            )
            """,
            "CREATE INDEX event_streams_by_provider ON event_streams (provider_id, created_at, id)",
            """
            CREATE INDEX outbox_polled_waiting ON outbox (subject, created_at, id)
            WHERE state = 'waiting' AND kind = 'polled_event'
            """,
        ])

    /// Users whose events a receiver does not want, when it last did something with its stream, and users whose providers
    /// are still to be notified of a revoked certificate.
    static let eventSubjects = Migration(
        identifier: 53, name: "subjects of streams of security events",
        statements: [
            "ALTER TABLE event_streams ADD COLUMN active_at BIGINT",
            """
            CREATE TABLE event_stream_exclusions (
                stream_id TEXT NOT NULL,
                user_id TEXT NOT NULL,
                PRIMARY KEY (stream_id, user_id)
            )
            """,
            "CREATE INDEX event_stream_exclusions_by_user ON event_stream_exclusions (user_id)",
            """
            CREATE TABLE certificate_notices (
                serial TEXT NOT NULL,
                user_id TEXT NOT NULL,
                provider_id TEXT NOT NULL,
                PRIMARY KEY (serial, user_id)
            )
            """,
        ])
}
