import Crypto
import Foundation
import GRDB
import SampleBackend

/// People, the changes of their data, and the hours of their sessions, in one SQLite file.
struct ReaderStore: Sendable {
    /// A change of a person's data.
    struct Change: Codable, Sendable, FetchableRecord {
        let at: Int64
        let username, field, before, after, by: String
    }

    /// The lifetime in seconds of a code, with which a person sets a password once.
    static let codeLifetime: TimeInterval = 14 * 86_400
    private static let codeAttempts = 5
    let database: DatabaseQueue

    /// Opens the store in a file.
    ///
    /// - Parameter creating: whether a missing store is created, and an older one brought up to date.
    init(file: String, creating: Bool) throws {
        guard creating || FileManager.default.fileExists(atPath: file) else {
            throw Options.Failure(
                reason: "There is no store at \(file). Start the server first, or name its store with --store.")
        }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        // Staff's commands write concurrently.
        configuration.busyMode = .timeout(5)
        database = try DatabaseQueue(path: file, configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("people, changes and hours") { try $0.execute(sql: Self.schema) }
        migrator.registerMigration("recordings") { try $0.execute(sql: Self.recordings) }
        if creating { try migrator.migrate(database) }
        guard try database.read(migrator.hasCompletedMigrations) else {
            throw Options.Failure(
                reason: "\(file) is not a store of this version. Start this version's server with it first.")
        }
    }

    /// A person's id is the external id at Countersign. It never changes.
    private static let schema = """
        CREATE TABLE people (
            id TEXT NOT NULL PRIMARY KEY, username TEXT NOT NULL UNIQUE, groups TEXT NOT NULL, name TEXT NOT NULL,
            area_code TEXT NOT NULL, number TEXT NOT NULL, street TEXT NOT NULL, city TEXT NOT NULL, zip TEXT NOT NULL,
            state TEXT NOT NULL, created_at INTEGER NOT NULL, salt BLOB, hash BLOB, code_hash BLOB,
            code_until INTEGER, code_attempts INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, person TEXT NOT NULL REFERENCES people (id), at INTEGER NOT NULL,
            field TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, by TEXT NOT NULL);
        CREATE INDEX changes_by_person ON changes (person, number);
        CREATE TABLE sessions (
            id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL REFERENCES people (id), started_at INTEGER NOT NULL,
            seconds INTEGER NOT NULL, ended_at INTEGER);
        CREATE UNIQUE INDEX sessions_open ON sessions (person) WHERE ended_at IS NULL;
        CREATE INDEX sessions_by_person ON sessions (person, started_at);
        CREATE INDEX sessions_by_start ON sessions (started_at);
        CREATE TABLE articles (
            id TEXT NOT NULL PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions (id), title TEXT NOT NULL,
            submitted_at INTEGER NOT NULL);
        CREATE INDEX articles_by_session ON articles (session);
        """

    // MARK: People

    /// Creates people, all or none. If a person exists, the data is changed.
    ///
    /// - Throws: ``NameConflict`` for a user name that a person had before.
    /// - Returns: the codes of new people, by username.
    func provision(_ people: [Person], by staff: String) async throws -> [(username: String, code: String)] {
        try await database.write { database in
            try people.compactMap { person in
                if let (id, known) = try Self.find(username: person.username, database) {
                    try Self.requireNamedByStaff(id, person.username, database)
                    try Self.change(id, known, to: person, by: staff, database)
                    return nil
                }
                try Self.requireFree(person.username, for: nil, database)
                let id = UUID().uuidString.lowercased()
                try database.execute(
                    sql: """
                        INSERT INTO people (id, created_at, \(Person.fields.joined(separator: ", ")))
                        VALUES (?, ?\(String(repeating: ", ?", count: Person.fields.count)))
                        """,
                    arguments: StatementArguments([id, "\(Self.now)"] + Person.fields.map { person.values[$0] }))
                return (person.username, try Self.issueCode(id, database))
            }
        }
    }

    /// Refuses the data of a person whose present user name is their own choice: staff may mean somebody else by it.
    private static func requireNamedByStaff(_ id: String, _ username: String, _ database: Database) throws {
        let by = try String.fetchOne(
            database,
            sql: "SELECT by FROM changes WHERE person = ? AND field = 'username' ORDER BY number DESC LIMIT 1",
            arguments: [id])
        guard by?.hasPrefix("staff ") ?? true else { throw NameConflict.taken(username) }
    }

    func person(_ id: String) async throws -> Person? {
        try await database.read { try Self.find("id", id, $0)?.person }
    }

    /// Changes a person's data. Every change is recorded with its time.
    func change(_ id: String, to person: Person, by actor: String) async throws {
        try await database.write { database in
            guard let known = try Self.find("id", id, database) else { return }
            try Self.change(id, known.person, to: person, by: actor, database)
        }
    }

    /// The changes of a person's data, newest first; the last thousand.
    func changes(of id: String?) async throws -> [Change] {
        try await database.read { database in
            try Change.fetchAll(
                database,
                sql: """
                    SELECT c.at, p.username, c.field, c.before, c.after, c.by FROM changes c
                    JOIN people p ON p.id = c.person WHERE ? IS NULL OR c.person = ? ORDER BY c.number DESC LIMIT 1000
                    """, arguments: [id, id])
        }
    }

    func id(of username: String) async throws -> String? {
        try await database.read { try Self.find(username: username, $0)?.id }
    }

    private static func find(username: String, _ database: Database) throws -> (id: String, person: Person)? {
        try find("username", username, database)
    }

    static func find(_ column: String, _ value: String, _ database: Database) throws
        -> (id: String, person: Person)?
    {
        try Row.fetchOne(database, sql: "SELECT * FROM people WHERE \(column) = ?", arguments: [value]).map { row in
            (row["id"], Person(stored: Person.fields.reduce(into: [:]) { $0[$1] = row[$1] }))
        }
    }

    static func change(
        _ id: String, _ known: Person, to person: Person, by actor: String, _ database: Database
    ) throws {
        if known.username != person.username { try requireFree(person.username, for: id, database) }
        for field in Person.fields where known.values[field] != person.values[field] {
            try database.execute(
                sql: "UPDATE people SET \(field) = ? WHERE id = ?", arguments: [person.values[field], id])
            try database.execute(
                sql: "INSERT INTO changes (person, at, field, before, after, by) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [id, now, field, known.values[field], person.values[field], actor])
        }
    }

    // MARK: Passwords

    /// A person's id and password; `nil` for an unknown person, or one without a password.
    func password(of username: String) async throws -> (id: String, hash: Passwords.Hash)? {
        try await database.read { database in
            try Row.fetchOne(
                database, sql: "SELECT id, salt, hash FROM people WHERE username = ? AND hash IS NOT NULL",
                arguments: [username]
            ).map { ($0["id"], Passwords.Hash(salt: $0["salt"], hash: $0["hash"])) }
        }
    }

    /// Deletes a person's password.
    ///
    /// - Returns: the id, and a code for a new one; `nil` for an unknown person.
    func resetPassword(of username: String, by staff: String) async throws -> (id: String, code: String)? {
        try await database.write { database in
            guard let (id, _) = try Self.find(username: username, database) else { return nil }
            try database.execute(sql: "UPDATE people SET salt = NULL, hash = NULL WHERE id = ?", arguments: [id])
            try database.execute(
                sql: "INSERT INTO changes (person, at, field, before, after, by) VALUES (?, ?, 'password', '', '', ?)",
                arguments: [id, Self.now, staff])
            return (id, try Self.issueCode(id, database))
        }
    }

    /// Counts an attempt with a code before it is compared. A code permits five attempts.
    ///
    /// - Returns: whether the code is correct.
    func take(code: String, of username: String) async throws -> Bool {
        try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE people SET code_attempts = code_attempts + 1
                    WHERE username = ? AND code_hash IS NOT NULL AND code_until > ? AND code_attempts < ?
                    """, arguments: [username, Self.now, Self.codeAttempts])
            guard database.changesCount > 0 else { return false }
            // A code has 80 bits, so its hash needs no salt, and the store may compare digests.
            return try Bool.fetchOne(
                database, sql: "SELECT code_hash = ? FROM people WHERE username = ?",
                arguments: [Self.hash(code), username]) == true
        }
    }

    /// Sets a password by a code, which is then spent; `false` if it was spent meanwhile.
    func setPassword(_ password: Passwords.Hash, code: String, of username: String) async throws -> Bool {
        try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE people SET salt = ?, hash = ?, code_hash = NULL, code_until = NULL
                    WHERE username = ? AND code_hash = ? AND code_until > ?
                    """, arguments: [password.salt, password.hash, username, Self.hash(code), Self.now])
            return database.changesCount > 0
        }
    }

    private static func issueCode(_ id: String, _ database: Database) throws -> String {
        let code = Data.random(count: 10).map { String(format: "%02x", $0) }.joined()
        try database.execute(
            sql: "UPDATE people SET code_hash = ?, code_until = ?, code_attempts = 0 WHERE id = ?",
            arguments: [hash(code), now + Int64(codeLifetime), id])
        return code
    }

    private static func hash(_ code: String) -> Data { Data(SHA256.hash(data: Data(code.utf8))) }

    /// The current time in seconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
