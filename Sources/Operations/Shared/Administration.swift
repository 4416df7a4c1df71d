import Database
import Domain
import Repositories

/// The operations of an admin's command. Each is a method, in the folder of its feature.
package struct Administration: Sendable {
    let store: any Database
    package let environment: Environment
    /// The admin's name in the audit log.
    package let actor: String
    /// Reads the keys of personal data, for the operations that need them.
    let personalKeys: @Sendable () throws -> PersonalKeys

    package init(
        store: any Database, environment: Environment, actor: String,
        personalKeys: @escaping @Sendable () throws -> PersonalKeys
    ) {
        self.store = store
        self.environment = environment
        self.actor = actor
        self.personalKeys = personalKeys
    }

    /// Reads in one snapshot.
    ///
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.snapshot(body)
    }

    /// Writes in one serializable transaction, before waiting requests. The nodes that serve the store apply the rest
    /// of the consequences.
    ///
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    @discardableResult
    func write<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await Commit(store: store, lane: .administration, environment: environment, node: nil)(body)
    }
}
