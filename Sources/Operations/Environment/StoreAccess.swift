import Database
import Domain

extension Database {
    /// Writes like `Database/write(on:_:)`, or in turn with others, but throws the contract's refusals if the store is
    /// unavailable.
    func transaction<T: Sendable>(
        on lane: Lane = .usual, inTurn turn: Turn? = nil, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await reached {
            guard let turn else { return try await write(on: lane, body) }
            return try await write(inTurn: turn, body)
        }
    }

    /// Writes like `Database/maintain(_:)`, but throws the contract's refusals if the store is unavailable.
    func maintained<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await reached { try await maintain(body) }
    }

    /// Reads like `Database/read(on:_:)`, but throws the contract's refusals if the store is unavailable.
    func snapshot<T: Sendable>(
        on lane: Lane = .usual, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await reached { try await read(on: lane, body) }
    }

    /// Runs a call of the store, but throws the contract's refusals if the store is unavailable.
    func reached<T>(_ ask: () async throws -> T) async throws -> T {
        do {
            return try await ask()
        } catch StoreError.unavailable(let reason) {
            throw Refusal.storeUnavailable(reason)
        } catch StoreError.outcomeUnknown(let reason) {
            throw Refusal.outcomeUnknown(reason)
        } catch StoreError.statement(let reason) {
            throw await cause(ofFailedStatement: reason)
        }
    }

    /// The cause of a statement that does not fit the store: a bug of this build, or missing tables because the store
    /// was moved while this process ran.
    fileprivate func cause(ofFailedStatement reason: String) async -> any Error {
        guard let availability = try? await availability(), case .moved = availability else {
            return StoreError.statement(reason: reason)
        }
        return Refusal.storeMoved("\(StoreError.notUsable(availability))")
    }

    /// Reads like ``snapshot(_:)`` on a reserved connection, before other readers, for this process's caches.
    func reservedSnapshot<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await reached { try await readReserved(body) }
    }
}
