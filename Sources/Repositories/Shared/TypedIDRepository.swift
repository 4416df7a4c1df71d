import Database
import Domain

/// A kind of object whose ids an admin may type.
package protocol NamedKind: SendableMetatype {
    /// The table with the objects, whose key is `id`, and the noun for one of them in sentences to an admin.
    static var names: (table: String, noun: String) { get }
}

extension Kind.User: NamedKind {
    package static var names: (table: String, noun: String) { ("users", "user") }
}

extension Kind.Device: NamedKind {
    package static var names: (table: String, noun: String) { ("devices", "device") }
}

extension Kind.Provider: NamedKind {
    package static var names: (table: String, noun: String) { ("providers", "provider") }
}

extension Kind.Application: NamedKind {
    package static var names: (table: String, noun: String) { ("applications", "app") }
}

extension Kind.ProviderKey: NamedKind {
    package static var names: (table: String, noun: String) { ("provider_keys", "key") }
}

extension Kind.Session: NamedKind {
    package static var names: (table: String, noun: String) { ("sessions", "session") }
}

extension Kind.WaitingAct: NamedKind {
    package static var names: (table: String, noun: String) { ("waiting_acts", "waiting act") }
}

extension Kind.OutboxMessage: NamedKind {
    package static var names: (table: String, noun: String) { ("outbox", "message") }
}

extension Kind.EventStream: NamedKind {
    package static var names: (table: String, noun: String) { ("event_streams", "stream") }
}

extension Kind.IdentityCard: NamedKind {
    package static var names: (table: String, noun: String) { ("identity_cards", "card") }
}

extension Kind.Ban: NamedKind {
    package static var names: (table: String, noun: String) { ("bans", "ban") }
}

/// Finds the ids that an admin means.
package struct TypedIDRepository {
    private let transaction: any Transaction
}

package extension TypedIDRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The stored ids that begin with a text, in order. They are a range of the table's key.
    func list<Kind: NamedKind>(_ typed: TypedID<Kind>, limit: Int) throws -> [Identifier<Kind>] {
        guard let range = typed.range else { return [] }
        return try transaction.values(
            "SELECT id FROM \(Kind.names.table) WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3",
            [range.first.value, range.last.value, Value(limit)])
    }
}
