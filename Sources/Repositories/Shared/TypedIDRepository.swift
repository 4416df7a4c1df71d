import Database
import Domain

/// A kind of object whose ids an admin may type.
package protocol NamedKind: SendableMetatype {
    /// The table with the objects, whose key is `id`.
    static var table: String { get }
    /// The noun for it in sentences to an admin.
    static var noun: String { get }
}

extension Kind.User: NamedKind {
    package static var table: String { "users" }
    package static var noun: String { "user" }
}

extension Kind.Device: NamedKind {
    package static var table: String { "devices" }
    package static var noun: String { "device" }
}

extension Kind.Provider: NamedKind {
    package static var table: String { "providers" }
    package static var noun: String { "provider" }
}

extension Kind.Application: NamedKind {
    package static var table: String { "applications" }
    package static var noun: String { "app" }
}

extension Kind.ProviderKey: NamedKind {
    package static var table: String { "provider_keys" }
    package static var noun: String { "key" }
}

extension Kind.Session: NamedKind {
    package static var table: String { "sessions" }
    package static var noun: String { "session" }
}

extension Kind.OutboxMessage: NamedKind {
    package static var table: String { "outbox" }
    package static var noun: String { "message" }
}

extension Kind.EventStream: NamedKind {
    package static var table: String { "event_streams" }
    package static var noun: String { "stream" }
}

extension Kind.IdentityCard: NamedKind {
    package static var table: String { "identity_cards" }
    package static var noun: String { "card" }
}

extension Kind.Ban: NamedKind {
    package static var table: String { "bans" }
    package static var noun: String { "ban" }
}

/// Finds the ids that an admin means.
package struct TypedIDRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The stored ids that begin with a text, in order. They are a range of the table's key.
    package func list<Kind: NamedKind>(_ typed: TypedID<Kind>, limit: Int) throws -> [Identifier<Kind>] {
        guard let range = typed.range else { return [] }
        return try transaction.values(
            "SELECT id FROM \(Kind.table) WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3",
            [range.first.value, range.last.value, Value(limit)])
    }
}
