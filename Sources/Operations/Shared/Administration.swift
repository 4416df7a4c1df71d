import Database
import Domain
import Repositories

/// The operations of an administrator. Each is a method, in the folder of its feature, and requires a right.
package struct Administration: Sendable {
    let store: any Database
    package let environment: Environment
    /// The administrator's name in the audit log.
    package let actor: String
    /// The administrator whose role limits the operations. `nil` for an account of the operating system that belongs to
    /// no administrator: it has keys and store, and so all rights.
    let administrator: Administrator?
    /// The queue of its reads: `Lane/console` for pages, which give up a slow statement.
    let lane: Lane
    /// Above this number of users an act needs a second administrator; 0 for never (`four_eyes_over`).
    let fourEyesOver: Int
    /// Reads the keys of personal data, for the operations that need them.
    let personalKeys: @Sendable () throws -> PersonalKeys

    package init(
        store: any Database, environment: Environment, actor: String, administrator: Administrator? = nil,
        fourEyesOver: Int = 0, reading lane: Lane = .usual, personalKeys: @escaping @Sendable () throws -> PersonalKeys
    ) {
        self.store = store
        self.environment = environment
        self.actor = actor
        self.administrator = administrator
        self.fourEyesOver = fourEyesOver
        self.lane = lane
        self.personalKeys = personalKeys
    }

    /// Reads in one snapshot. The role travels in one statement with what the body asks first.
    ///
    /// - Parameters:
    ///   - right: the right that the operation requires.
    ///   - body: runs twice: see `Transaction/joined(_:)`.
    /// - Throws: `Refusal` `insufficient_scope` or `unavailable`; what the body throws.
    func read<T: Sendable>(
        _ right: AdminRight, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await store.snapshot(on: lane) { transaction in
            let answered = try withRole(right, transaction, asking: { _ = try body($0) })
            try require(right, in: answered)
            return try body(answered)
        }
    }

    /// Writes in one serializable transaction, before waiting requests. The nodes that serve the store apply the rest
    /// of the consequences.
    ///
    /// - Parameters:
    ///   - right: the right that the operation requires.
    ///   - first: what the body asks first, in one statement with the role: see `Transaction/answering(_:)`.
    /// - Throws: `Refusal` `insufficient_scope` or `unavailable`; what the body throws.
    @discardableResult
    func write<T: Sendable>(
        _ right: AdminRight, asking first: (@Sendable (any Transaction) throws -> Void)? = nil,
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await Commit(store: store, lane: .administration, environment: environment, node: nil)
            .callAsFunction { transaction, events in
                let answered = try first.map { try withRole(right, transaction, asking: $0) } ?? transaction
                try require(right, in: answered)
                return try body(answered, &events)
            }
    }

    /// A transaction with the rows of what a body asks first, and of the administrator.
    private func withRole(
        _ right: AdminRight, _ transaction: any Transaction, asking first: (any Transaction) throws -> Void
    ) throws -> any Transaction {
        guard let administrator else { return transaction }
        // Nothing is asked for a role that lacks the right.
        try administrator.require(right)
        return try transaction.answering {
            _ = try AdministratorRepository($0).find(administrator.id)
            try first($0)
        }
    }

    /// Checks the role as it is stored: a removal is in force from its commit on, also for a command that waits for an
    /// answer meanwhile.
    private func require(_ right: AdminRight, in transaction: any Transaction) throws {
        guard let administrator else { return }
        try administrator.require(right)
        guard let stored = try AdministratorRepository(transaction).find(administrator.id) else {
            throw Refusal.administratorChanged
        }
        try stored.require(right)
        guard stored == administrator else { throw Refusal.administratorChanged }
    }
}
