import GRDB

/// A full-text index (FTS5) over a table of the app's data. Triggers keep it, so every statement that changes a row also
/// changes its index.
struct SearchIndex: Sendable {
    let source: String
    private let columns: String
    /// The text to find in a row, as an expression over `NEW` or `OLD`; NULL if there is nothing to find.
    let text: @Sendable (_ row: String) -> String

    /// The name of the index, which has one column, `text`.
    var table: String { source + "_index" }

    static let messages = SearchIndex(source: "messages", columns: "parts, is_deleted") { row in
        """
        (SELECT group_concat(json_extract(value, '$.body'), char(10)) FROM json_each(\(row).parts)
        WHERE json_extract(value, '$.type') LIKE 'text/%' AND \(row).is_deleted = 0)
        """
    }
    static let conversations = SearchIndex(source: "conversations", columns: "title") { "\($0).title" }
    /// Names, and the user's id at the provider, which follows the provider's name in the address.
    static let profiles = SearchIndex(source: "profiles", columns: "display_name, initials, address") { row in
        """
        (coalesce(\(row).display_name, '') || ' ' || coalesce(\(row).initials, '') || ' '
        || substr(\(row).address, instr(\(row).address, '/') + 1))
        """
    }
    static let all = [messages, conversations, profiles]

    /// The index and its triggers. Case and accents do not matter to it.
    var schema: String {
        """
        CREATE VIRTUAL TABLE \(table) USING fts5(text, tokenize = 'unicode61 remove_diacritics 2');
        CREATE TRIGGER index_new_\(source) AFTER INSERT ON \(source)
        BEGIN
            \(insert);
        END;
        CREATE TRIGGER index_changed_\(source) AFTER UPDATE OF \(columns) ON \(source)
        WHEN \(text("OLD")) IS NOT \(text("NEW"))
        BEGIN
            \(delete);
            \(insert);
        END;
        CREATE TRIGGER index_deleted_\(source) AFTER DELETE ON \(source)
        BEGIN
            \(delete);
        END;
        """
    }

    private var insert: String {
        """
        INSERT INTO \(table) (rowid, text) SELECT NEW.database_identifier, found
        FROM (SELECT \(text("NEW")) AS found) WHERE found IS NOT NULL
        """
    }

    private var delete: String {
        """
        DELETE FROM \(table) WHERE rowid = OLD.database_identifier;
        UPDATE synchronization SET merge_step = -\(Self.pages)
        """
    }

    /// The number of pages that one step of a merge writes.
    fileprivate static let pages = 64
}

extension Reconciler {
    /// Makes the indexes again from their texts, without the words of deleted ones.
    func rebuildIndexes() throws {
        for index in SearchIndex.all {
            try connection.execute(sql: "INSERT INTO \(index.table) (\(index.table)) VALUES ('rebuild')")
        }
        try connection.execute(sql: "UPDATE synchronization SET merge_step = 0")
    }

    func hasDeletedWords() throws -> Bool {
        try Bool.fetchOne(connection, sql: "SELECT merge_step <> 0 FROM synchronization") ?? false
    }

    /// Removes words of deleted texts from the file. SQLite only marks them as deleted until the index is merged. One call
    /// is one short step: a negative step begins a merge of everything, a positive one continues it.
    func removeDeletedWords() throws {
        let step = try Int.fetchOne(connection, sql: "SELECT merge_step FROM synchronization") ?? 0
        guard step != 0 else { return }
        var isDone = true
        for index in SearchIndex.all {
            let before = connection.totalChangesCount
            try connection.execute(
                sql: "INSERT INTO \(index.table) (\(index.table), rank) VALUES ('merge', ?)", arguments: [step])
            // A step without work changes one row at most.
            if connection.totalChangesCount - before > 1 { isDone = false }
        }
        try connection.execute(
            sql: "UPDATE synchronization SET merge_step = ?", arguments: [isDone ? 0 : SearchIndex.pages])
    }
}
