import Synchronization

/// A cache of rows: filled at the first use, emptied by changes.
///
/// A load that overlaps a change is repeated, so a value that was read before a change is never cached after it.
final class InvalidatingCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var epoch: UInt64 = 0
        var values: [Key: Value] = [:]
    }

    private let state = Mutex(State())

    func known(_ key: Key) -> Value? {
        state.withLock { $0.values[key] }
    }

    /// The cached value, or the stored one. After several overlapping changes the value is returned without caching it.
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

    /// The mark for ``remember(_:for:since:)``. Take it before the value is read or written.
    var epoch: UInt64 { state.withLock { $0.epoch } }

    /// Caches a value that was read or written after a mark; `false` if something changed since.
    @discardableResult
    func remember(_ value: Value, for key: Key, since epoch: UInt64) -> Bool {
        state.withLock { state in
            guard state.epoch == epoch else { return false }
            if state.values[key] == nil { state.values[key] = value }
            return true
        }
    }

    /// Repeats the loads in progress, because data outside the table has changed.
    func invalidateLoads() {
        state.withLock { $0.epoch &+= 1 }
    }

    func drop(_ key: Key) {
        state.withLock { state in
            state.epoch &+= 1
            state.values[key] = nil
        }
    }

    /// Drops all values to limit the size. Nothing has changed, so loads in progress stay valid.
    func forgetAll() {
        state.withLock { $0.values = [:] }
    }

    /// Drops all values that satisfy a condition. It scans the table, so use it for rare changes of small tables.
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
    /// Drops values that satisfy a condition and to which only the table refers. Nothing has changed, so loads in
    /// progress stay valid.
    func dropUnheld(where fits: (Value) -> Bool) {
        state.withLock { state in
            let found = state.values.compactMap { fits($0.value) ? $0.key : nil }
            for key in found where isKnownUniquelyReferenced(&state.values[key]) { state.values[key] = nil }
        }
    }
}
