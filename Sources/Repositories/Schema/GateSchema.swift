import Database

extension Schema {
    /// Generations, by which a change of one row ends all sessions that hang on it, and flags that spare a sign-in the
    /// questions for bans.
    ///
    /// Rows of before, and those of nodes of the version before, say that somebody has to look: the first sign-in that finds
    /// no ban in force changes that.
    static let gates = Migration(
        identifier: 21, name: "generations of users, devices, providers and keys, and cuts",
        statements: [
            "ALTER TABLE users ADD COLUMN generation BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE users ADD COLUMN held INTEGER NOT NULL DEFAULT 1",
            "ALTER TABLE devices ADD COLUMN generation BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE devices ADD COLUMN held INTEGER NOT NULL DEFAULT 1",
            "ALTER TABLE providers ADD COLUMN generation BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE provider_keys ADD COLUMN generation BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE sessions ADD COLUMN user_generation BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE sessions ADD COLUMN device_generation BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE sessions ADD COLUMN provider_generation BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE sessions ADD COLUMN key_generation BIGINT NOT NULL DEFAULT 0",
            """
            CREATE TABLE cuts (
                kind TEXT NOT NULL,
                gate_id TEXT NOT NULL,
                generation BIGINT NOT NULL,
                why TEXT NOT NULL,
                at BIGINT NOT NULL,
                ended BIGINT NOT NULL,
                due_at BIGINT NOT NULL,
                holder TEXT,
                PRIMARY KEY (kind, gate_id, generation),
                CHECK (kind IN ('user', 'device', 'provider', 'provider_key'))
            )
            """,
        ])

    /// Which cut was left alone longest.
    static let cutsByTurn = Migration(
        identifier: 42, name: "index of cuts by their turn",
        index: TableIndex("cuts_by_turn", on: "cuts", "(due_at, kind, gate_id, generation)"))

    /// The open sessions of a key, and by way of its keys those of a provider: a batch that ends some reads no others.
    static let openSessionsByKey = Migration(
        identifier: 22, name: "index of open sessions by key",
        index: TableIndex(
            "sessions_open_by_key", on: "sessions",
            "(provider_key_id, provider_generation) WHERE state <> 'unauthenticated'"))
}
