import Database
import Domain

/// The generations of users, devices, providers and keys. Raising one ends all earlier sessions at once, whatever their
/// number, because each row contains the four generations that its sign-in read.
package struct GenerationRepository {
    private let transaction: any Transaction

    /// Whether a session has the current generations of its user, device, provider and key. Otherwise a bulk revocation
    /// has ended it.
    ///
    /// - Parameter table: the statement's name for `sessions`.
    static func isCurrent(_ table: String) -> String {
        """
        \(table).user_generation = (SELECT g.generation FROM users g WHERE g.id = \(table).user_id)
        AND \(table).device_generation = (SELECT g.generation FROM devices g WHERE g.id = \(table).device_id)
        AND \(table).provider_generation = (SELECT g.generation FROM providers g WHERE g.id = \(table).provider_id)
        AND \(table).key_generation = (SELECT g.generation FROM provider_keys g WHERE g.id = \(table).provider_key_id)
        """
    }

    /// The end reason of a row that was never a session: it spent a nonce for another purpose.
    static let spentNonce = "its nonce was spent"

    /// Whether a row is, or was, a session.
    ///
    /// - Parameter table: the statement's name for `sessions`.
    static func wasOpened(_ table: String) -> String { "COALESCE(\(table).end_reason, '') <> '\(spentNonce)'" }

    static func row(of scope: RevocationScope) -> (table: String, id: Value) {
        switch scope {
        case .user(let id): ("users", .id(id))
        case .device(let id): ("devices", .id(id))
        case .provider(let id): ("providers", .id(id))
        case .providerKey(let id): ("provider_keys", .id(id))
        }
    }
}

package extension GenerationRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Raises a generation, which ends all its earlier sessions.
    func raise(_ scope: RevocationScope) throws {
        let (table, id) = Self.row(of: scope)
        try transaction.enqueue("UPDATE \(table) SET generation = generation + 1 WHERE id = $1", [id])
    }

    /// Sets whether a user or device may have ban entries, or a user forbidden apps, which each sign-in must then read.
    /// Providers and keys have other columns for this.
    func setMayBeBanned(_ mayBeBanned: Bool, _ scope: RevocationScope) throws {
        switch scope {
        case .user, .device: break
        case .provider, .providerKey: return
        }
        let (table, id) = Self.row(of: scope)
        // A user who is being erased or forbids an app keeps the flag, whatever happens to bans.
        let unless =
            table == "users" && !mayBeBanned
            ? " AND NOT \(ErasureRepository.isUnderWay("users.id")) AND NOT \(ForbiddenAppRepository.exists(for: "users.id"))"
            : ""
        try transaction.enqueue("UPDATE \(table) SET held = $2 WHERE id = $1\(unless)", [id, mayBeBanned.value])
    }
}
