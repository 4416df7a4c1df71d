import Synchronization

/// What this process has been shown of a table: filled on first sight, emptied by changes.
///
/// A load that overlaps a change is thrown away and done again, so that a value read before a change can never be
/// remembered after it.
final class InvalidatingCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var epoch: UInt64 = 0
        var values: [Key: Value] = [:]
    }

    private let state = Mutex(State())

    func known(_ key: Key) -> Value? {
        state.withLock { $0.values[key] }
    }

    /// What is remembered, or else what the store has. After a few overlapping changes the value is used and not
    /// remembered.
    func find(_ key: Key, load: () async throws -> Value?) async throws -> Value? {
        if let value = known(key) { return value }
        var value: Value?
        for _ in 0..<4 {
            let epoch = self.epoch
            value = try await load()
            guard let found = value else { return nil }
            if remember(found, for: key, since: epoch) { return known(key) ?? found }
        }
        return value
    }

    /// A mark for ``remember(_:for:since:)``.
    var epoch: UInt64 { state.withLock { $0.epoch } }

    /// Keeps a value that was read or written since a mark; `false` where something changed meanwhile.
    @discardableResult
    func remember(_ value: Value, for key: Key, since epoch: UInt64) -> Bool {
        state.withLock { state in
            guard state.epoch == epoch else { return false }
            if state.values[key] == nil { state.values[key] = value }
            return true
        }
    }

    /// Makes loads that are under way be done again, for something outside the table has changed.
    func invalidateLoads() {
        state.withLock { $0.epoch &+= 1 }
    }

    func drop(_ key: Key) {
        state.withLock { state in
            state.epoch &+= 1
            state.values[key] = nil
        }
    }

    /// Forgets all values, so that they stay within a bound: nothing has changed, and loads go on.
    func forgetAll() {
        state.withLock { $0.values = [:] }
    }

    /// Forgets all values that fit. Walks the table: for rare changes of small ones.
    func drop(where fits: (Value) -> Bool) {
        state.withLock { state in
            state.epoch &+= 1
            state.values = state.values.filter { !fits($0.value) }
        }
    }

    var all: [Value] { state.withLock { Array($0.values.values) } }

    var count: Int { state.withLock { $0.values.count } }
}

extension InvalidatingCache where Value: AnyObject {
    /// Forgets values that fit and that nobody but the table holds. Nothing changes by it: loads go on.
    func dropUnheld(where fits: (Value) -> Bool) {
        state.withLock { state in
            let found = state.values.compactMap { fits($0.value) ? $0.key : nil }
            for key in found where isKnownUniquelyReferenced(&state.values[key]) { state.values[key] = nil }
        }
    }
}
