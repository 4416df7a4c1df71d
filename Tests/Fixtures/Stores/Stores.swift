import Database
import Foundation
import Synchronization

/// A kind of store that the contract of `Database` is tried on.
package struct StoreKind: Sendable, CustomStringConvertible {
    package let description: String
    /// Opens the store that belongs to a directory; opened again, it is another instance on the same store.
    package let open: @Sendable (_ directory: URL, _ clock: @escaping @Sendable () -> Date) throws -> any Database
    /// How closed stores are copied; `nil` if none outlives its closing.
    let copying: StoreCopying?

    package static let sqlite = StoreKind(
        description: "SQLite",
        open: { directory, clock in
            try SQLiteDatabase(path: directory.appendingPathComponent("store.db").path, clock: clock)
        }, copying: .files)

    /// SQLite in memory: a new store each time.
    package static let memory = StoreKind(
        description: "SQLite in memory", open: { _, clock in try SQLiteDatabase(inMemory: clock) }, copying: nil)

    /// A schema on the PostgreSQL server of the test run, or a database of it where the store is a copy.
    package static let postgresql = StoreKind(
        description: "PostgreSQL",
        open: { directory, clock in
            let address = try PostgreSQLCluster.shared.address(of: directory.lastPathComponent)
            var lanes = LaneSizes()
            (lanes.writes, lanes.reads, lanes.administration) = (4, 2, 1)
            return PostgreSQLDatabase(try PostgreSQLAddress(address), clock: clock, lanes: lanes)
        }, copying: .databases)

    /// The engine that tests run on which say nothing of theirs: `COUNTERSIGN_TEST_STORE` may name `postgresql`,
    /// `postgresql18` (the server of the Python environment, for every test of PostgreSQL) or `memory`.
    package static let usual =
        switch ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_STORE"] {
        case "postgresql", "postgresql18": postgresql
        case "memory": memory
        default: sqlite
        }

    /// Every engine of this build, in every way that it keeps a store.
    package static let all = [sqlite, memory, postgresql]

    /// Those whose stores several instances have open at once, and that are there when they are opened again.
    package static let shared = [sqlite, postgresql]
}

/// Runs a body with a directory of its own (mode 0700), which is removed afterwards.
@discardableResult
package func withTemporaryDirectory<T>(_ body: (URL) async throws -> T) async throws -> T {
    let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("countersign-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

/// Runs a body with a new store, migrated as told; the store is closed and removed afterwards.
@discardableResult
package func withStore<T>(
    _ kind: StoreKind = .usual, migrations: [Migration] = [],
    clock: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) },
    _ body: (any Database) async throws -> T
) async throws -> T {
    try await withStores(kind, count: 1, migrations: migrations, clock: clock) { try await body($0[0]) }
}

/// Runs a body like ``withStore(_:migrations:clock:_:)`` with some instances of one store, as nodes have them.
@discardableResult
package func withStores<T>(
    _ kind: StoreKind, count: Int, migrations: [Migration] = [],
    clock: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) },
    _ body: ([any Database]) async throws -> T
) async throws -> T {
    await StoreSlots.shared.take()
    defer { StoreSlots.shared.giveBack() }
    return try await withTemporaryDirectory { directory in
        let isCopied = try await StoreTemplates.shared.copy(kind, migrations, to: directory)
        let result: T
        do {
            result = try await withStores(
                kind, count: count, in: directory, migrations: isCopied ? [] : migrations, clock: clock, body)
        } catch {
            if isCopied, let copying = kind.copying { try? await onOwnThread { try copying.remove(directory) } }
            throw error
        }
        if isCopied, let copying = kind.copying { try await onOwnThread { try copying.remove(directory) } }
        return result
    }
}

private func withStores<T>(
    _ kind: StoreKind, count: Int, in directory: URL, migrations: [Migration],
    clock: @escaping @Sendable () -> Date, _ body: ([any Database]) async throws -> T
) async throws -> T {
    let stores = try (0..<count).map { _ in try kind.open(directory, clock) }
    let result: T
    do {
        if !migrations.isEmpty { try await stores[0].migrate(migrations) }
        result = try await body(stores)
    } catch {
        for store in stores { try? await store.close() }
        throw error
    }
    for store in stores { try await store.close() }
    return result
}

/// How many stores are open at once. Tests run side by side, each store has a dozen files, and Foundation's `Process.run()`
/// reads beyond its buffer when a process has more than some 1,350 of them open.
private final class StoreSlots: Sendable {
    static let shared = StoreSlots(count: 12)

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(free: count))
    }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
