import Foundation
import GRDB

/// Forums, messages and subscriptions in one SQLite file.
///
/// Each forum and each message has a rising number, by which readers request newer or older ones, whatever is added
/// meanwhile.
struct ForumStore: Sendable {
    struct Entry: Codable, Sendable, FetchableRecord {
        let id: UUID
        let number: Int64
        let title, description, createdBy: String
        let createdTime: Int64
        let imageURL: String?
    }

    struct Message: Codable, Sendable, FetchableRecord {
        let id: UUID
        let number: Int64
        let forum: UUID
        let createdBy: String
        let createdTime: Int64
        let text, link: String?
    }

    struct Subscription: Codable, Sendable, FetchableRecord {
        let id: UUID
        let forum: UUID
    }

    /// The part of a list that a reader requests: rows between two numbers, newest first.
    struct Range: Sendable {
        var offset = 0, size = 100
        var newerThan: Int64 = 0
        var olderThan = Int64.max
    }

    /// The reason that nothing was written.
    enum Conflict: Error { case titleTaken, idTaken, tooMany, unknown }

    private static let subscriptionsOfUser = 200
    private let database: DatabaseQueue

    init(file: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        database = try DatabaseQueue(path: file, configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("forums, messages and subscriptions") { database in
            try database.execute(sql: Self.schema)
        }
        migrator.registerMigration("avatars") { database in
            try database.execute(
                sql: "CREATE TABLE avatars (user TEXT NOT NULL PRIMARY KEY, image BLOB NOT NULL, type TEXT NOT NULL)")
        }
        try migrator.migrate(database)
    }

    private static let schema = """
        CREATE TABLE forums (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, title TEXT NOT NULL,
            title_key TEXT NOT NULL UNIQUE, description TEXT NOT NULL, image_url TEXT, image BLOB, image_type TEXT,
            created_by TEXT NOT NULL, created_time INTEGER NOT NULL);
        CREATE TABLE messages (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE,
            forum BLOB NOT NULL REFERENCES forums (id), created_by TEXT NOT NULL, created_time INTEGER NOT NULL,
            text TEXT, link TEXT, CHECK ((text IS NULL) <> (link IS NULL)));
        CREATE INDEX messages_by_forum ON messages (forum, number);
        CREATE TABLE subscriptions (
            id BLOB NOT NULL PRIMARY KEY, user TEXT NOT NULL, forum BLOB NOT NULL REFERENCES forums (id),
            UNIQUE (user, forum));
        """

    private static let entry = """
        SELECT id, number, title, description, created_by AS createdBy, created_time AS createdTime,
            image_url AS imageURL FROM forums
        """
    private static let message = """
        SELECT id, number, forum, created_by AS createdBy, created_time AS createdTime, text, link FROM messages
        """

    // MARK: Forums

    /// - Throws: ``Conflict/titleTaken``, also for a title that differs only in upper and lower case.
    func create(_ title: String, _ description: String, _ image: ForumImage?, by user: String) async throws -> Entry {
        let (id, key) = (UUID(), title.lowercased().precomposedStringWithCanonicalMapping)
        return try await database.write { database in
            let isTaken = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM forums WHERE title_key = ?)", arguments: [key])
            guard isTaken == false else { throw Conflict.titleTaken }
            try database.execute(
                sql: """
                    INSERT INTO forums (id, title, title_key, description, image_url, image, image_type, created_by,
                        created_time)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    id, title, key, description, image?.url, image?.data, image?.type, user, Self.now,
                ])
            return try Self.required(Entry.fetchOne(database, sql: "\(Self.entry) WHERE id = ?", arguments: [id]))
        }
    }

    func forums(_ range: Range) async throws -> [Entry] {
        try await database.read { database in
            try Entry.fetchAll(
                database,
                sql: "\(Self.entry) WHERE number > ? AND number < ? ORDER BY number DESC LIMIT ? OFFSET ?",
                arguments: [range.newerThan, range.olderThan, range.size, range.offset])
        }
    }

    func forum(_ id: UUID) async throws -> Entry? {
        try await database.read { try Entry.fetchOne($0, sql: "\(Self.entry) WHERE id = ?", arguments: [id]) }
    }

    /// The given picture; `nil` for an identicon.
    func image(of id: UUID) async throws -> (data: Data, type: String)? {
        try await database.read { database in
            try Row.fetchOne(
                database, sql: "SELECT image, image_type FROM forums WHERE id = ? AND image IS NOT NULL",
                arguments: [id]
            ).map { ($0["image"], $0["image_type"]) }
        }
    }

    // MARK: Avatars

    /// The picture that a user chose; `nil` for initials.
    func avatar(of user: String) async throws -> (data: Data, type: String)? {
        try await database.read { database in
            try Row.fetchOne(database, sql: "SELECT image, type FROM avatars WHERE user = ?", arguments: [user])
                .map { ($0["image"], $0["type"]) }
        }
    }

    /// - Parameter image: `nil` to show initials again.
    func setAvatar(_ image: ForumImage?, of user: String) async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM avatars WHERE user = ?", arguments: [user])
            guard let image else { return }
            try database.execute(
                sql: "INSERT INTO avatars (user, image, type) VALUES (?, ?, ?)",
                arguments: [user, image.data, image.type])
        }
    }

    // MARK: Messages

    /// Appends a message. A repetition with the same id and content changes nothing.
    ///
    /// - Throws: ``Conflict/idTaken`` for an id of another message, ``Conflict/unknown`` for an unknown forum.
    /// - Returns: the message, and whether it is new.
    func append(
        _ id: UUID, to forum: UUID, text: String?, link: String?, by user: String
    ) async throws -> (message: Message, isNew: Bool) {
        try await database.write { database in
            let known = try Message.fetchOne(database, sql: "\(Self.message) WHERE id = ?", arguments: [id])
            if let known {
                guard known.forum == forum, known.createdBy == user, known.text == text, known.link == link else {
                    throw Conflict.idTaken
                }
                return (known, false)
            }
            guard try Self.exists(forum, database) else { throw Conflict.unknown }
            try database.execute(
                sql: "INSERT INTO messages (id, forum, created_by, created_time, text, link) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [id, forum, user, Self.now, text, link])
            let found = try Message.fetchOne(database, sql: "\(Self.message) WHERE id = ?", arguments: [id])
            return (try Self.required(found), true)
        }
    }

    func messages(of forum: UUID, _ range: Range) async throws -> [Message] {
        try await database.read { database in
            try Message.fetchAll(
                database,
                sql: """
                    \(Self.message) WHERE forum = ? AND number > ? AND number < ?
                    ORDER BY number DESC LIMIT ? OFFSET ?
                    """,
                arguments: [forum, range.newerThan, range.olderThan, range.size, range.offset])
        }
    }

    // MARK: Subscriptions

    /// Subscribes a user. An existing subscription keeps its id.
    func subscribe(_ user: String, to forum: UUID) async throws -> Subscription {
        try await database.write { database in
            guard try Self.exists(forum, database) else { throw Conflict.unknown }
            let own = "SELECT id, forum FROM subscriptions WHERE user = ?"
            let known = try Subscription.fetchOne(database, sql: "\(own) AND forum = ?", arguments: [user, forum])
            if let known { return known }
            let count = try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM subscriptions WHERE user = ?", arguments: [user])
            guard (count ?? 0) < Self.subscriptionsOfUser else { throw Conflict.tooMany }
            let made = Subscription(id: UUID(), forum: forum)
            try database.execute(
                sql: "INSERT INTO subscriptions (id, user, forum) VALUES (?, ?, ?)", arguments: [made.id, user, forum])
            return made
        }
    }

    func subscriptions(of user: String) async throws -> [Subscription] {
        try await database.read { database in
            try Subscription.fetchAll(
                database, sql: "SELECT id, forum FROM subscriptions WHERE user = ? ORDER BY id", arguments: [user])
        }
    }

    func subscription(_ id: UUID, of user: String) async throws -> Subscription? {
        try await database.read { database in
            try Subscription.fetchOne(
                database, sql: "SELECT id, forum FROM subscriptions WHERE id = ? AND user = ?", arguments: [id, user])
        }
    }

    /// - Returns: `false` if the user has no such subscription.
    func unsubscribe(_ id: UUID, of user: String) async throws -> Bool {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM subscriptions WHERE id = ? AND user = ?", arguments: [id, user])
            return database.changesCount > 0
        }
    }

    private static func exists(_ forum: UUID, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM forums WHERE id = ?)", arguments: [forum]) == true
    }

    private static func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Conflict.unknown }
        return value
    }

    /// The current time in milliseconds since 1970.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
