import Domain
import Synchronization

/// The pages and actions of each administrator that are under way on this node. Of each kind one runs at a time, and
/// some others wait for it.
///
/// Pages and expensive actions read on connections of their own, of which one certificate takes one. Other actions, such
/// as a ban, do not wait for them. A page whose reader gave up keeps its turn until its statement ends.
final class Turns: Sendable {
    private struct Key: Hashable {
        let administrator: AdministratorID
        let kind: ConsoleRoute.Kind
    }

    /// The key of each one that runs, with those that wait for it, first come first served.
    private let lines = Mutex<[Key: [CheckedContinuation<Bool, Never>]]>([:])
    private let most: Int

    /// - Parameter most: how many of one administrator and kind may wait: the tabs that a browser opens at once.
    init(most: Int = 32) { self.most = most }

    /// Runs a page or an action when it is its turn.
    ///
    /// - Throws: `Refusal` `rate_limited` if too many wait; what the body throws.
    func callAsFunction<T: Sendable>(
        _ kind: ConsoleRoute.Kind, of administrator: AdministratorID, _ body: @Sendable () async throws -> T
    ) async throws -> T {
        let key = Key(administrator: administrator, kind: kind)
        guard await begin(key) else { throw Refusal.lineFull }
        defer { end(key) }
        // Nobody reads the answer of a page that was given up in the line.
        try Task.checkCancellation()
        return try await body()
    }

    /// The number of pages and actions that wait.
    var waiting: Int { lines.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    private func begin(_ key: Key) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = lines.withLock { lines in
                guard let line = lines[key] else {
                    lines[key] = []
                    return true
                }
                guard line.count < most else { return false }
                lines[key] = line + [continuation]
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Passes the turn to the first one that waits.
    private func end(_ key: Key) {
        let next = lines.withLock { lines -> CheckedContinuation<Bool, Never>? in
            guard let first = lines[key]?.first else {
                lines[key] = nil
                return nil
            }
            lines[key]?.removeFirst()
            return first
        }
        next?.resume(returning: true)
    }
}
