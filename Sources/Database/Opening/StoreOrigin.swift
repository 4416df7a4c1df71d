/// Whose tables a database has.
package enum StoreOrigin: Sendable, Equatable {
    /// It has no tables, as a new file.
    case empty
    /// It has a history of migrations, or the marks of a copy.
    case service
    /// - Parameter table: the first table by its name.
    case foreign(table: String)
}

package extension Transaction {
    /// Finds whose tables the database has. Other programs have a table `schema_migrations`, too, with other columns.
    /// Tables of an extension of the server do not matter.
    ///
    /// - Throws: `StoreError`.
    func origin() throws -> StoreOrigin {
        let question =
            switch engine {
            case .sqlite:
                """
                SELECT m.name, c.name FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name
                """
            case .postgreSQL:
                """
                SELECT c.relname, a.attname FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
                JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                WHERE c.relkind IN ('r', 'p') AND NOT EXISTS (
                    SELECT 1 FROM pg_catalog.pg_depend d
                    WHERE d.classid = CAST('pg_catalog.pg_class' AS REGCLASS) AND d.objid = c.oid AND d.deptype = 'e')
                ORDER BY c.relname
                """
            }
        var columns: [String: Set<String>] = [:]
        for row in try query(question) { columns[try row.text(0), default: []].insert(try row.text(1)) }
        guard let first = columns.keys.min() else { return .empty }
        let isOwn = Self.marks.contains { columns[$0.table, default: []].isSuperset(of: $0.columns) }
        return isOwn ? .service : .foreign(table: first)
    }

    /// The migrations that are not applied to a store that has a history.
    ///
    /// - Parameter acceptsNewer: as that of `Database/pendingMigrations(of:acceptsNewer:)`.
    /// - Throws: `StoreError.migration` if history and build do not match.
    func pendingMigrations(of migrations: [Migration], acceptsNewer: Bool) throws -> [Migration] {
        try pending(of: migrations, acceptsNewer: acceptsNewer, in: self)
    }

    private static var marks: [(table: String, columns: Set<String>)] {
        [
            ("schema_migrations", ["identifier", "checksum", "readable_from"]),
            ("store_copy", ["role", "copy", "peer"]),
        ]
    }
}
