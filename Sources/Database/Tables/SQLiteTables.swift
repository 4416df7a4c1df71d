package extension SQLiteDatabase {
    /// Every table of the file, each after the tables that it references.
    ///
    /// - Throws: `StoreError`.
    func tables() async throws -> [TableShape] {
        try await read { transaction in
            let own = "m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            return try TableShape.list(
                columns: try transaction.query(
                    """
                    SELECT m.name, c.name, c.pk FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
                    WHERE \(own) ORDER BY m.name, c.cid
                    """),
                references: try transaction.query(
                    """
                    SELECT m.name, r."table" FROM sqlite_schema m CROSS JOIN pragma_foreign_key_list(m.name) r
                    WHERE \(own)
                    """)
            ) { try transaction.first("SELECT max(_rowid_) FROM \"\($0)\"")?.integerOrNull(0) ?? 0 }
        }
    }
}
