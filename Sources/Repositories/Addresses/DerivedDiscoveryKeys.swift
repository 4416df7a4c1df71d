import Crypto
import Domain
import Encoding
import Foundation
import Synchronization

/// A cache of derived keys of contact discovery, so that not every call derives its week's key again.
///
/// A key is found by all its inputs, so a row with a new seed has a different key. Keys of expired weeks are dropped at
/// the first later call, when the rows of their seeds are deleted too.
package final class DerivedDiscoveryKeys: Sendable {
    /// The inputs of a key, besides the version's index key.
    struct Source: Hashable {
        let provider: ProviderID
        let week: Int64
        let seed: [UInt8]
        let version: Int
    }

    struct Derived: Sendable {
        let key: ObliviousKey
        let publicKey: [UInt8]
        let padding: SymmetricKey
    }

    private struct State {
        var oldest = Int64.min
        var keys: [Source: Derived] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: the maximum number of keys, one for each provider and week. Beyond it all are dropped.
    package init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    /// The cached key, or a newly derived one.
    func find(_ source: Source, at now: Date, derive: () throws -> Derived) rethrows -> Derived {
        let oldest = DiscoveryWeek.oldest(at: now).number
        let known = state.withLock { state in
            if state.oldest != oldest {
                state.keys = state.keys.filter { $0.key.week >= oldest }
                state.oldest = oldest
            }
            return state.keys[source]
        }
        if let known { return known }
        // Without a lock: concurrent callers derive the same key.
        let derived = try derive()
        state.withLock { state in
            guard source.week >= state.oldest else { return }
            if state.keys.count >= capacity { state.keys = [:] }
            state.keys[source] = derived
        }
        return derived
    }

    var count: Int { state.withLock { $0.keys.count } }
}
