import Foundation
import GRDB
import SampleBackend

/// Accounts, and contacts as pairs, in one SQLite file.
struct MsgrStore: Sendable {
    /// The result of adding a contact.
    enum Added: Sendable {
        /// The other user must confirm.
        case requested
        /// The other user had requested it.
        case confirmed
        case friendsAlready
        case unknownUser
        case full
    }

    private static let contactsOfUser = 1000, requestsToUser = 100, devicesOfUser = 20
    private let database: DatabaseQueue

    init(file: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        database = try DatabaseQueue(path: file, configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("accounts and contacts") { try $0.execute(sql: Self.schema) }
        try migrator.migrate(database)
    }

    /// A pair is stored once, with the lesser name first. A request is stored until it is confirmed.
    private static let schema = """
        CREATE TABLE users (username TEXT NOT NULL PRIMARY KEY, salt BLOB NOT NULL, hash BLOB NOT NULL);
        CREATE TABLE devices (
            username TEXT NOT NULL REFERENCES users (username), device TEXT NOT NULL, PRIMARY KEY (username, device));
        CREATE TABLE contacts (
            first TEXT NOT NULL REFERENCES users (username), second TEXT NOT NULL REFERENCES users (username),
            PRIMARY KEY (first, second), CHECK (first < second));
        CREATE INDEX contacts_by_second ON contacts (second, first);
        CREATE TABLE requests (
            sender TEXT NOT NULL REFERENCES users (username), recipient TEXT NOT NULL REFERENCES users (username),
            PRIMARY KEY (recipient, sender), CHECK (sender <> recipient));
        """

    // MARK: Accounts

    /// - Returns: `false` if the name is taken.
    func register(_ name: String, _ password: Passwords.Hash, device: String) async throws -> Bool {
        try await database.write { database in
            try database.execute(
                sql: "INSERT INTO users (username, salt, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                arguments: [name, password.salt, password.hash])
            guard database.changesCount > 0 else { return false }
            try Self.note(device, of: name, database)
            return true
        }
    }

    func password(of name: String) async throws -> Passwords.Hash? {
        try await database.read { database in
            try Row.fetchOne(database, sql: "SELECT salt, hash FROM users WHERE username = ?", arguments: [name])
                .map { Passwords.Hash(salt: $0["salt"], hash: $0["hash"]) }
        }
    }

    /// Records the first twenty devices on which a user has logged in.
    func note(device: String, of name: String) async throws {
        try await database.write { try Self.note(device, of: name, $0) }
    }

    private static func note(_ device: String, of name: String, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO devices (username, device) SELECT ?, ?
                WHERE (SELECT COUNT(*) FROM devices WHERE username = ?) < \(devicesOfUser) ON CONFLICT DO NOTHING
                """, arguments: [name, device, name])
    }

    // MARK: Contacts

    func contacts(of name: String) async throws -> [String] {
        try await database.read { try Self.contacts(of: name, $0) }
    }

    func areFriends(_ one: String, _ other: String) async throws -> Bool {
        try await database.read { try Self.areFriends(one, other, $0) }
    }

    /// Adds a contact: a request, or the confirmation of one. Two users who request each other at the same time become
    /// contacts.
    func add(_ other: String, by name: String) async throws -> Added {
        try await database.write { database in
            let isKnown = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM users WHERE username = ?)", arguments: [other])
            guard isKnown == true else { return .unknownUser }
            if try Self.areFriends(name, other, database) { return .friendsAlready }
            for user in [name, other] where try Self.contacts(of: user, database).count >= Self.contactsOfUser {
                return .full
            }
            try database.execute(
                sql: "DELETE FROM requests WHERE recipient = ? AND sender = ?", arguments: [name, other])
            if database.changesCount > 0 {
                try database.execute(
                    sql: "DELETE FROM requests WHERE recipient = ? AND sender = ?", arguments: [other, name])
                try database.execute(
                    sql: "INSERT INTO contacts (first, second) VALUES (?, ?)",
                    arguments: [min(name, other), max(name, other)])
                return .confirmed
            }
            let waiting = try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM requests WHERE recipient = ?", arguments: [other])
            guard (waiting ?? 0) < Self.requestsToUser else { return .full }
            try database.execute(
                sql: "INSERT INTO requests (sender, recipient) VALUES (?, ?) ON CONFLICT DO NOTHING",
                arguments: [name, other])
            return .requested
        }
    }

    private static func contacts(of name: String, _ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT second AS friend FROM contacts WHERE first = ?
                UNION ALL SELECT first FROM contacts WHERE second = ? ORDER BY friend
                """, arguments: [name, name])
    }

    private static func areFriends(_ one: String, _ other: String, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM contacts WHERE first = ? AND second = ?)",
            arguments: [min(one, other), max(one, other)]) == true
    }
}
