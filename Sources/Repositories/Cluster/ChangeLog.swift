import Database
import Domain
import Encoding
import Foundation

/// What changed, for the memories of all processes. A change is written in the transaction that makes it, numbered by
/// a counter whose row stays locked until that transaction commits: numbers become visible in their order.
package struct ChangeLog {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Something that memories may hold and must read anew.
    package enum Change: Sendable, Hashable {
        /// The session whose token has this hash.
        case session(Digest256)
        /// All sessions of a user.
        case user(UserID)
        /// A user who was banned: all sessions, and the connections that nobody else uses.
        case bannedUser(UserID)
        /// A device's certificates, bans and sessions.
        case device(DeviceID)
        /// A provider, its keys, its apps and its sessions.
        case provider(ProviderID)
        /// A provider's keys and apps; its sessions stay as they are.
        case providerKeys(ProviderID)
        /// All sessions that a provider's key opened or renewed.
        case providerKey(ProviderKeyID)

        var columns: (kind: String, key: String) {
            switch self {
            case .session(let hash): ("session", hash.base64URL)
            case .user(let id): ("user", id.description)
            case .bannedUser(let id): ("banned_user", id.description)
            case .device(let id): ("device", id.description)
            case .provider(let id): ("provider", id.description)
            case .providerKeys(let id): ("provider_keys", id.description)
            case .providerKey(let id): ("provider_key", id.description)
            }
        }

        init?(kind: String, key: String) {
            switch kind {
            case "session":
                guard let digest = Base64URL.decode(key).flatMap({ Digest256($0) }) else { return nil }
                self = .session(digest)
            case "user":
                guard let id = UserID(key[...]) else { return nil }
                self = .user(id)
            case "banned_user":
                guard let id = UserID(key[...]) else { return nil }
                self = .bannedUser(id)
            case "device":
                guard let id = DeviceID(key[...]) else { return nil }
                self = .device(id)
            case "provider":
                guard let id = ProviderID(key[...]) else { return nil }
                self = .provider(id)
            case "provider_keys":
                guard let id = ProviderID(key[...]) else { return nil }
                self = .providerKeys(id)
            case "provider_key":
                guard let id = ProviderKeyID(key[...]) else { return nil }
                self = .providerKey(id)
            default: return nil
            }
        }
    }

    /// Writes a change down for all processes, which read it once this transaction is committed.
    package func append(_ change: Change) throws {
        let counter = try transaction.first(
            "UPDATE change_counter SET value = value + 1 WHERE id = 1 RETURNING value", [])
        guard let sequence = try counter?.integer(0) else { throw DamagedRow(column: 0) }
        let (kind, key) = change.columns
        try transaction.enqueue(
            "INSERT INTO changes (sequence, kind, key, at) VALUES ($1, $2, $3, $4)",
            [.integer(sequence), .text(kind), .text(key), .time(transaction.now)])
    }

    /// The number of the last change.
    package func last() throws -> Int64 {
        guard let row = try transaction.first("SELECT value FROM change_counter WHERE id = 1", []) else {
            throw DamagedRow(column: 0)
        }
        return try row.integer(0)
    }

    /// What changed since a number.
    package struct Reading: Sendable {
        /// In order; a kind that this version does not know is left out.
        package let changes: [Change]
        /// The number of the last change.
        package let last: Int64
        /// Whether no change is missing: one who was away for long comes after some were forgotten.
        package let isWhole: Bool

        /// Nothing yet: one begins to watch.
        package static func none(last: Int64) -> Reading { Reading(changes: [], last: last, isWhole: true) }
    }

    /// The changes after a number, in one statement: every node asks several times a second.
    package func read(after sequence: Int64) throws -> Reading {
        let rows = try transaction.query(
            """
            SELECT value, sequence, kind, key FROM change_counter
            LEFT JOIN changes ON sequence > $1 WHERE id = 1 ORDER BY sequence
            """, [.integer(sequence)])
        guard let last = try rows.first?.integer(0) else { throw DamagedRow(column: 0) }
        let changes = try rows.filter { try $0.integerOrNull(1) != nil }
        return Reading(
            changes: try changes.compactMap { Change(kind: try $0.text(2), key: try $0.text(3)) }, last: last,
            isWhole: Int64(changes.count) == last - sequence)
    }

    /// Forgets changes that every live process has read, the oldest of them; how many.
    @discardableResult
    package func purge(before moment: Date, limit: Int = 1000) throws -> Int {
        try transaction.execute(
            """
            DELETE FROM changes WHERE at < $1 AND sequence IN (
                SELECT sequence FROM changes ORDER BY sequence LIMIT \(limit))
            """, [.time(moment)])
    }
}
