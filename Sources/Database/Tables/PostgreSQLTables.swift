package extension PostgreSQLDatabase {
    /// Every table of the address's schema, each after the tables that it references.
    ///
    /// - Throws: `StoreError`.
    func tables() async throws -> [TableShape] {
        try await read { transaction in
            let schema = "n.oid = c.relnamespace AND n.nspname = current_schema()"
            var estimates: [String: Int64] = [:]
            let counts = """
                SELECT c.relname, CAST(c.reltuples AS BIGINT) FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON \(schema) WHERE c.relkind IN ('r', 'p')
                """
            for row in try transaction.query(counts) { estimates[try row.text(0)] = max(0, try row.integer(1)) }
            return try TableShape.list(
                columns: try transaction.query(
                    """
                    SELECT c.relname, a.attname, COALESCE(array_position(p.conkey, a.attnum), 0)
                    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON \(schema)
                    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                    LEFT JOIN pg_catalog.pg_constraint p ON p.conrelid = c.oid AND p.contype = 'p'
                    WHERE c.relkind IN ('r', 'p') ORDER BY c.relname, a.attnum
                    """),
                references: try transaction.query(
                    """
                    SELECT c.relname, r.relname FROM pg_catalog.pg_constraint f
                    JOIN pg_catalog.pg_class c ON c.oid = f.conrelid JOIN pg_catalog.pg_namespace n ON \(schema)
                    JOIN pg_catalog.pg_class r ON r.oid = f.confrelid WHERE f.contype = 'f'
                    """)
            ) { estimates[$0] ?? 0 }
        }
    }
}
