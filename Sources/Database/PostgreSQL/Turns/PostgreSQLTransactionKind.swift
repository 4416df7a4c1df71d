extension PostgreSQLTransaction {
    /// What a transaction is for.
    enum Kind {
        case read
        case write
        /// A change of the schema, which takes as long as it takes, and begins again where others hold a lock.
        case alter
        /// One statement that changes nothing, on a connection that cannot write: without `BEGIN`, `COMMIT` and the time.
        case statement
        /// Statements each of which is a whole change, with one snapshot each: nothing takes them back.
        case share
        /// Work that must see what others committed before each of its statements, and that waits for nobody.
        case maintain

        /// Writers that decide by what they read must not pass one another. Readers need one snapshot and no more.
        var begin: [String] {
            switch self {
            case .read: ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
            case .write: ["BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"]
            case .statement: []
            case .share: ["BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"]
            case .maintain:
                [
                    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "SET LOCAL lock_timeout = 200",
                    // A batch walks an index in its order, and stops. A planner that expects fewer rows than a batch
                    // has would gather and sort all that are left, for each batch.
                    """
                    SELECT set_config('enable_bitmapscan', 'off', true)
                        WHERE current_setting('enable_bitmapscan', true) IS NOT NULL
                    """,
                ]
            case .alter:
                [
                    "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE", "SET LOCAL statement_timeout = 0",
                    "SET LOCAL lock_timeout = 2000",
                ]
            }
        }

        /// Whether anything may be changed.
        var isWriting: Bool {
            switch self {
            case .read, .statement: false
            case .write, .alter, .maintain, .share: true
            }
        }
    }
}

extension PostgreSQLConnection {
    /// What is sent in an exchange.
    enum Part {
        /// A command of the store's own.
        case command(String)
        /// A statement of a body, prepared at its first use and answered in binary.
        case statement(String, [Value])
        /// `COMMIT` of a transaction that may have written, which has a failure of its own kind. Nothing of the transaction
        /// stands behind it.
        case commit

        var isCommit: Bool { if case .commit = self { true } else { false } }
    }
}
