import Database
import Domain

/// The generations of what sessions hang on. One that rises ends all sessions of before at once, whatever their number,
/// since each row holds the four that its sign-in read.
package struct GateRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Whether a session is of the present generations of its user, device, provider and key: otherwise a cut ended it.
    ///
    /// - Parameter table: what the statement calls `sessions`.
    static func isCurrent(_ table: String) -> String {
        """
        \(table).user_generation = (SELECT g.generation FROM users g WHERE g.id = \(table).user_id)
        AND \(table).device_generation = (SELECT g.generation FROM devices g WHERE g.id = \(table).device_id)
        AND \(table).provider_generation = (SELECT g.generation FROM providers g WHERE g.id = \(table).provider_id)
        AND \(table).key_generation = (SELECT g.generation FROM provider_keys g WHERE g.id = \(table).provider_key_id)
        """
    }

    /// Why a row ended that never was a session: a nonce was spent by it for something else.
    static let spentNonce = "its nonce was spent"

    /// Whether a row is, or was, a session.
    ///
    /// - Parameter table: what the statement calls `sessions`.
    static func wasOpened(_ table: String) -> String { "COALESCE(\(table).end_reason, '') <> '\(spentNonce)'" }

    /// Raises a generation: all sessions that hang on it are over.
    package func raise(_ gate: SessionGate) throws {
        let (table, id) = Self.row(of: gate)
        try transaction.enqueue("UPDATE \(table) SET generation = generation + 1 WHERE id = $1", [id])
    }

    /// Says whether there are ban entries about a user or a device, which each sign-in must look at then. Of a provider
    /// and a key other columns say whether they are in use.
    package func setHeld(_ isHeld: Bool, _ gate: SessionGate) throws {
        switch gate {
        case .user, .device: break
        case .provider, .providerKey: return
        }
        let (table, id) = Self.row(of: gate)
        // Whoever is being erased is held back, whatever becomes of bans.
        let unless =
            table == "users" && !isHeld ? " AND NOT \(ErasureRepository.isUnderWay("users.id"))" : ""
        try transaction.enqueue("UPDATE \(table) SET held = $2 WHERE id = $1\(unless)", [id, isHeld.value])
    }

    static func row(of gate: SessionGate) -> (table: String, id: Value) {
        switch gate {
        case .user(let id): ("users", .id(id))
        case .device(let id): ("devices", .id(id))
        case .provider(let id): ("providers", .id(id))
        case .providerKey(let id): ("provider_keys", .id(id))
        }
    }
}
