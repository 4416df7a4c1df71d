/// A store that reports how long each caller waited for it.
package struct ObservedDatabase: Database {
    private let base: any Database
    private let observe: @Sendable (Kind, ContinuousClock.Instant) -> Void
}

package extension ObservedDatabase {
    enum Kind: String, Sendable, CaseIterable {
        case read, query, write, share, maintain
    }

    /// - Parameter observe: called in the task of each caller when its wait ends, with its start, whether or not the
    ///   call succeeded.
    init(
        _ base: any Database, observe: @escaping @Sendable (Kind, ContinuousClock.Instant) -> Void
    ) {
        self.base = base
        self.observe = observe
    }

    private func observed<T: Sendable>(_ kind: Kind, _ work: () async throws -> T) async throws -> T {
        let began = ContinuousClock.now
        defer { observe(kind, began) }
        return try await work()
    }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await observed(.read) { try await base.read(body) }
    }

    func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await observed(.read) { try await base.read(on: lane, body) }
    }

    @discardableResult
    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await observed(.write) { try await base.write(body) }
    }

    @discardableResult
    func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await observed(.write) { try await base.write(on: lane, body) }
    }

    @discardableResult
    func write<T: Sendable>(
        inTurn turn: Turn, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await observed(.write) { try await base.write(inTurn: turn, body) }
    }

    func isActive(_ turn: Turn) -> Bool { base.isActive(turn) }

    @discardableResult
    func maintain<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await observed(.maintain) { try await base.maintain(body) }
    }

    func share(_ statement: SharedStatement) async throws -> [Row] {
        try await observed(.share) { try await base.share(statement) }
    }

    func query(_ sql: String, _ arguments: [Value]) async throws -> [Row] {
        try await observed(.query) { try await base.query(sql, arguments) }
    }

    // MARK: Caches, start and stop, for which no request waits

    func readReserved<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        try await base.readReserved(body)
    }

    @discardableResult
    func alter<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await base.alter(body)
    }

    func build(_ index: TableIndex) async throws { try await base.build(index) }

    func changePosition() async throws -> ChangePosition { try await base.changePosition() }

    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        try await base.changes(after: position, limit: limit)
    }

    func purgeChanges(below positions: [ChangePosition]) async throws {
        try await base.purgeChanges(below: positions)
    }

    func hasForeignChangeLog() async throws -> Bool { try await base.hasForeignChangeLog() }

    @discardableResult
    func adoptChangeLog() async throws -> Bool { try await base.adoptChangeLog() }

    func heartbeat() async throws -> Heartbeat? { try await base.heartbeat() }

    func changeStamp() throws -> Int64 { try base.changeStamp() }

    func check() async throws { try await base.check() }

    func tables() async throws -> [TableShape] { try await base.tables() }

    @discardableResult
    func clearLog() async throws -> Bool { try await base.clearLog() }

    func close() async throws { try await base.close() }
}
