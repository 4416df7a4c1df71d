import Foundation
import GRDB
import SampleBackend

extension ReaderStore {
    /// Why a user name was not changed.
    enum NameConflict: Error {
        /// Another person has it, or had it: their mail and their history are under it.
        case taken(String)
        case unknown(String)

        var reason: String {
            switch self {
            case .taken(let name): "\(name) belongs to another person, or did. Choose another user name."
            case .unknown(let name): "unknown username \(name)"
            }
        }
    }

    /// What a person sees of the own data.
    struct Profile: Sendable {
        let id: String
        let person: Person
        /// The time of the last change, in seconds since 1970.
        let timestamp: Int64
    }

    /// Changes user names, all or none. Each change is recorded.
    func rename(_ names: [(from: String, to: String)], by actor: String) async throws {
        try await database.write { database in
            for name in names {
                guard let (id, known) = try Self.find("username", name.from, database) else {
                    throw NameConflict.unknown(name.from)
                }
                let person = try known.changed(["username": name.to])
                try Self.change(id, known, to: person, by: actor, database)
            }
        }
    }

    func profile(_ id: String) async throws -> Profile? {
        try await database.read { database in
            guard let (_, person) = try Self.find("id", id, database) else { return nil }
            let timestamp = try Int64.fetchOne(
                database,
                sql: """
                    SELECT COALESCE((SELECT MAX(at) FROM changes WHERE person = people.id), created_at)
                    FROM people WHERE id = ?
                    """, arguments: [id])
            return Profile(id: id, person: person, timestamp: timestamp ?? 0)
        }
    }

    /// Refuses a user name that someone else has or had. A former name must not become another person's: a file that
    /// staff wrote before the change would change the wrong one.
    static func requireFree(_ username: String, for id: String?, _ database: Database) throws {
        let isTaken = try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM people WHERE username = ? AND id IS NOT ?)
                    OR EXISTS (SELECT 1 FROM changes WHERE field = 'username' AND before = ? AND person IS NOT ?)
                """, arguments: [username, id, username, id])
        guard isTaken == false else { throw NameConflict.taken(username) }
    }
}

extension ReaderStore.Profile: Encodable {
    private enum Key: String, CodingKey {
        case id, username, groups, name, number, street, city, zip, state, timestamp
        case areaCode = "area_code"
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        for field in [Key.username, .name, .areaCode, .number, .street, .city, .zip, .state] {
            try members.encode(person.values[field.rawValue], forKey: field)
        }
        let groups = person.groups
        let flags = Dictionary(uniqueKeysWithValues: Person.Group.allCases.map { ($0.rawValue, groups.contains($0)) })
        try members.encode(id, forKey: .id)
        try members.encode(flags, forKey: .groups)
        try members.encode(timestamp, forKey: .timestamp)
    }
}
