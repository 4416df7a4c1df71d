import Database

extension Schema {
    /// The audit log's chain, and the generation that a restored store begins.
    ///
    /// An entry is written without a number, so that writers wait for nobody; the sealer gives it number and digest.
    static let auditChain =
        Migration(
            identifier: 5, name: "the audit log as a chain, generations of nonces",
            statements: [
                "ALTER TABLE audit_entries ADD COLUMN reason TEXT",
                "ALTER TABLE audit_entries ADD COLUMN sequence BIGINT",
                "ALTER TABLE audit_entries ADD COLUMN digest BYTEA CHECK ((digest IS NULL) = (sequence IS NULL))",
                """
                CREATE UNIQUE INDEX audit_entries_by_sequence ON audit_entries (sequence)
                WHERE sequence IS NOT NULL
                """,
                "CREATE INDEX audit_entries_unchained ON audit_entries (at, id) WHERE sequence IS NULL",
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
                """
                INSERT INTO audit_head (id, sequence, signed, signed_at, leased_until) VALUES (1, 0, 0, 0, 0)
                """,
                """
                CREATE TABLE audit_checkpoints (
                    sequence BIGINT NOT NULL PRIMARY KEY,
                    token TEXT NOT NULL
                )
                """,
                "CREATE TABLE generations (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
                "INSERT INTO generations (name, value) VALUES ('nonces', '')",
            ])

    /// What operators look for. Entries of the log come into their two when they are chained, behind the request that
    /// wrote them. The sessions of a key are in the order of a list; the index takes the place of one without the id.
    static let operatorIndexes = Migration(
        identifier: 65, name: "indexes of what operators look for",
        indexes: [
            TableIndex(
                "audit_entries_by_event", on: "audit_entries", "(event, sequence) WHERE sequence IS NOT NULL"),
            TableIndex(
                "audit_entries_by_subject", on: "audit_entries", "(subject, sequence) WHERE sequence IS NOT NULL"),
            TableIndex("outbox_dead", on: "outbox", "(created_at, id) WHERE state = 'dead'"),
            TableIndex(
                "sessions_open_by_key_and_id", on: "sessions",
                "(provider_key_id, provider_generation, id) WHERE state <> 'unauthenticated'"),
        ])

    /// What others find as well: open sessions of a key by the index above, the newest entry by its number.
    static let noReplacedIndexes = Migration(
        identifier: 66, name: "no indexes that others stand for",
        statements: ["DROP INDEX sessions_open_by_key", "DROP INDEX audit_entries_by_time"])
}
