extension PostgreSQLTransaction {
    /// The purpose of a transaction.
    enum Kind {
        case read
        case write
        /// A change of the schema, without a time limit. It is retried while other transactions have locks.
        case alter
        /// One read-only statement on a read-only connection: without `BEGIN`, `COMMIT` and the time.
        case statement
        /// Statements that are complete changes, each with its own snapshot: nothing rolls them back.
        case share
        /// Work that must see the latest commits before each of its statements, and does not wait for locks.
        case maintain

        /// Writers whose decisions depend on what they read must be serializable. Readers need only one snapshot.
        var begin: [String] {
            switch self {
            case .read: ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
            case .write: ["BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"]
            case .statement: []
            case .share: ["BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"]
            case .maintain:
                [
                    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "SET LOCAL lock_timeout = 200",
                    // A batch walks an index in its order and stops early. If the planner expects fewer rows than a
                    // batch, it would collect and sort all remaining rows for each batch.
                    """
                    SELECT set_config('enable_bitmapscan', 'off', true)
                        WHERE current_setting('enable_bitmapscan', true) IS NOT NULL
                    """,
                ]
            case .alter:
                [
                    "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE", "SET LOCAL statement_timeout = 0",
                    "SET LOCAL lock_timeout = 100",
                ]
            }
        }

        var isWriting: Bool {
            switch self {
            case .read, .statement: false
            case .write, .alter, .maintain, .share: true
            }
        }
    }
}

extension PostgreSQLConnection {
    enum Part {
        /// A command of the store itself.
        case command(String)
        /// A statement of a body, prepared at its first use, with a binary result.
        case statement(String, [Value])
        /// `COMMIT` of a transaction that may have written. Its failures are a separate kind. Nothing of the
        /// transaction follows it.
        case commit

        var isCommit: Bool { if case .commit = self { true } else { false } }
    }
}
