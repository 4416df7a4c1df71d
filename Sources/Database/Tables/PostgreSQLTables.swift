import Foundation

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

    /// Builds an index by `CREATE INDEX CONCURRENTLY`, which is not transactional: if it fails or the process dies, an
    /// invalid index remains. An invalid index is renamed, under the lock that its builder would have, and dropped.
    ///
    /// - Throws: `StoreError`.
    func build(_ index: TableIndex) async throws {
        let aside = index.name + "_invalid"
        // Each round builds the index, or removes an invalid one of another process.
        for _ in 0..<20 {
            if try await isValid(aside) != nil { try await carryOut("DROP INDEX CONCURRENTLY IF EXISTS \(aside)") }
            switch try await isValid(index.name) {
            case true?: return
            case false?: try await putAside(index, as: aside)
            case nil: try await carryOut(index.statement("CONCURRENTLY "))
            }
        }
        throw StoreError.unavailable(reason: "the index \(index.name) could not be built")
    }

    /// Whether an index is valid; `nil` if it does not exist.
    private func isValid(_ name: String) async throws -> Bool? {
        try await query(
            """
            SELECT i.indisvalid FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relname = $1
            """, [.text(name)]
        ).first?.bool(0)
    }

    private func putAside(_ index: TableIndex, as name: String) async throws {
        while true {
            do {
                try await maintainAtOnce { transaction in
                    try transaction.execute("LOCK TABLE \(index.table) IN SHARE UPDATE EXCLUSIVE MODE")
                    let isInvalid = """
                        SELECT 1 FROM pg_catalog.pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid
                        """
                    guard try transaction.first(isInvalid, [.text(index.name)]) != nil else { return }
                    try transaction.execute("ALTER INDEX \(index.name) RENAME TO \(name)")
                }
                return
            } catch StoreError.unavailable {
                // Another process builds it now, or vacuum uses the table.
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }
}
