import GRDB

/// The tables on the device: the service's data (streams and events), the app's data (conversations and messages), and
/// two queues of differences between them.
///
/// `syncable_changes` and `unprocessed_events`, and the triggers that fill them, are those of US 9,426,140 §3.4.
enum LocalSchema {
    static func migrate(_ database: some DatabaseWriter) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("streams and conversations") { connection in
            try connection.execute(sql: service)
            try connection.execute(sql: app)
            try connection.execute(sql: queues)
            try connection.execute(sql: triggers)
            for index in SearchIndex.all { try connection.execute(sql: index.schema) }
        }
        try migrator.migrate(database)
    }

    /// Local events do not have a number yet.
    private static let service = """
        CREATE TABLE synchronization (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            user_id TEXT NOT NULL,
            anchor TEXT NOT NULL,
            epoch TEXT NOT NULL,
            synchronized_at DATETIME NOT NULL,
            is_reconciling INTEGER NOT NULL DEFAULT 0,
            merge_step INTEGER NOT NULL DEFAULT 0,
            last_move INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE streams (
            stream_id TEXT NOT NULL PRIMARY KEY,
            last_sequence INTEGER NOT NULL,
            first_sequence INTEGER NOT NULL,
            through_sequence INTEGER NOT NULL,
            is_readable INTEGER NOT NULL,
            is_stored INTEGER NOT NULL DEFAULT 1,
            reported_sequence INTEGER NOT NULL DEFAULT 0,
            metadata TEXT NOT NULL,
            private_metadata TEXT NOT NULL,
            epoch TEXT NOT NULL
        );
        CREATE TABLE events (
            database_identifier INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            stream_id TEXT NOT NULL,
            event_id TEXT NOT NULL,
            server_sequence INTEGER,
            content TEXT NOT NULL,
            tries INTEGER NOT NULL DEFAULT 0,
            metadata TEXT NOT NULL DEFAULT '{}',
            private_metadata TEXT NOT NULL DEFAULT '{}',
            UNIQUE (stream_id, event_id),
            UNIQUE (stream_id, server_sequence)
        );
        CREATE INDEX events_unpublished ON events (database_identifier) WHERE server_sequence IS NULL;
        """

    private static let app = """
        CREATE TABLE conversations (
            database_identifier INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            stream_id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            state TEXT NOT NULL,
            created_by TEXT,
            created_at DATETIME NOT NULL,
            changed_at DATETIME NOT NULL,
            title TEXT,
            about TEXT,
            image_url TEXT,
            metadata TEXT NOT NULL,
            private_metadata TEXT NOT NULL,
            read_through INTEGER NOT NULL,
            last_sequence INTEGER NOT NULL,
            opening TEXT,
            refusal TEXT,
            move INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX conversations_by_change ON conversations (changed_at);
        CREATE TABLE participants (
            database_identifier INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            stream_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            assurance TEXT NOT NULL,
            delivered_through INTEGER NOT NULL,
            read_through INTEGER NOT NULL,
            is_present INTEGER NOT NULL,
            UNIQUE (stream_id, user_id)
        );
        CREATE TABLE profiles (
            database_identifier INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            user_id TEXT NOT NULL UNIQUE,
            address TEXT NOT NULL,
            display_name TEXT,
            initials TEXT,
            picture_url TEXT
        );
        CREATE TABLE messages (
            database_identifier INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            stream_id TEXT NOT NULL,
            message_id TEXT NOT NULL,
            sequence INTEGER,
            sender_id TEXT,
            sent_at DATETIME NOT NULL,
            in_reply_to TEXT,
            thread_id TEXT,
            is_deleted INTEGER NOT NULL DEFAULT 0,
            is_deleted_for_user INTEGER NOT NULL DEFAULT 0,
            parts TEXT,
            metadata TEXT NOT NULL DEFAULT '{}',
            private_metadata TEXT NOT NULL DEFAULT '{}',
            refusal TEXT,
            UNIQUE (stream_id, message_id)
        );
        CREATE INDEX messages_by_sequence ON messages (stream_id, sequence);
        CREATE INDEX messages_by_thread ON messages (stream_id, thread_id);
        CREATE INDEX messages_by_sender ON messages (sender_id, stream_id);
        CREATE TABLE notifications (
            notification_id TEXT NOT NULL PRIMARY KEY,
            sent_at DATETIME NOT NULL,
            content TEXT
        );
        CREATE INDEX notifications_by_time ON notifications (sent_at);
        """

    private static let queues = """
        CREATE TABLE syncable_changes (
            change_identifier INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            table_name TEXT NOT NULL,
            row_identifier INTEGER NOT NULL,
            change_type INTEGER NOT NULL,
            column_name TEXT
        );
        CREATE TABLE unprocessed_events (
            event_database_identifier INTEGER NOT NULL PRIMARY KEY,
            created_at DATETIME NOT NULL
        );
        """

    /// The reconciler's own changes are not changes of the user.
    private static let isLocal = "(SELECT is_reconciling FROM synchronization) = 0"

    private static func track(
        _ name: String, _ event: String, on table: String, _ condition: String = "1", type: Int,
        column: String? = nil
    ) -> String {
        """
        CREATE TRIGGER \(name) AFTER \(event) ON \(table) WHEN \(isLocal) AND \(condition)
        BEGIN
            INSERT INTO syncable_changes (table_name, row_identifier, change_type, column_name)
            VALUES ('\(table)', NEW.database_identifier, \(type), \(column.map { "'\($0)'" } ?? "NULL"));
        END;
        """
    }

    /// Numbers each change of a conversation's place in the list. Times cannot do it: a message that arrives late moves a
    /// conversation to a place that was listed before.
    private static func move(_ name: String, _ event: String, _ condition: String) -> String {
        """
        CREATE TRIGGER \(name) AFTER \(event) ON conversations WHEN \(condition)
        BEGIN
            UPDATE synchronization SET last_move = last_move + 1;
            UPDATE conversations SET move = (SELECT last_move FROM synchronization)
            WHERE database_identifier = NEW.database_identifier;
        END;
        """
    }

    private static var triggers: String {
        [
            move("number_new_conversations", "INSERT", "1"),
            move(
                "number_moved_conversations", "UPDATE OF changed_at, state",
                "NEW.changed_at <> OLD.changed_at OR NEW.state <> OLD.state"),
            """
            CREATE TRIGGER queue_events_for_processing AFTER INSERT ON events WHEN NEW.server_sequence IS NOT NULL
            BEGIN
                INSERT INTO unprocessed_events (event_database_identifier, created_at)
                VALUES (NEW.database_identifier, datetime('now'));
            END;
            """,
            track("track_conversations", "INSERT", on: "conversations", "NEW.opening IS NOT NULL", type: 0),
            track("track_reading", "UPDATE OF read_through", on: "conversations", type: 1, column: "read_through"),
            track("track_metadata", "UPDATE OF metadata", on: "conversations", type: 1, column: "metadata"),
            track(
                "track_private_metadata", "UPDATE OF private_metadata", on: "conversations", type: 1,
                column: "private_metadata"),
            track(
                "track_deleted_conversations", "UPDATE OF state", on: "conversations", "NEW.state = 'deleted'", type: 2),
            track("track_messages", "INSERT", on: "messages", "NEW.sequence IS NULL", type: 0),
            track(
                "track_repeated_messages", "UPDATE OF refusal", on: "messages",
                "NEW.sequence IS NULL AND NEW.refusal IS NULL", type: 0),
            track("track_deleted_messages", "UPDATE OF is_deleted", on: "messages", "NEW.is_deleted = 1", type: 2),
            track("track_message_metadata", "UPDATE OF metadata", on: "messages", type: 1, column: "metadata"),
            track(
                "track_private_message_metadata", "UPDATE OF private_metadata", on: "messages", type: 1,
                column: "private_metadata"),
            track("track_participants", "INSERT", on: "participants", type: 0),
            track(
                "track_changed_participants", "UPDATE OF is_present", on: "participants", type: 1,
                column: "is_present"),
        ].joined(separator: "\n")
    }
}
