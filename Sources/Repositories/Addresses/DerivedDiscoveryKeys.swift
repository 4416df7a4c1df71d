import Crypto
import Domain
import Encoding
import Foundation
import Synchronization

/// The keys of contact discovery as this process has derived them, so that not every call derives its week's key anew.
///
/// A key is found by everything that it comes of: the key of a row that was made anew is another one. Those of weeks
/// that are no longer answered are forgotten with the first call after that, as the rows of their seeds are deleted.
package final class DerivedDiscoveryKeys: Sendable {
    /// What a key comes of, beside the index key of the version.
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
        /// The number of the oldest week that is remembered.
        var oldest = Int64.min
        var keys: [Source: Derived] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// Empty ones.
    ///
    /// - Parameter capacity: how many are remembered at most, one of each provider and week; beyond that all are
    ///   forgotten.
    package init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    /// A key that was derived before, or else is now.
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
        // Nobody waits for it: whoever asks at the same moment derives the same.
        let derived = try derive()
        state.withLock { state in
            guard source.week >= state.oldest else { return }
            if state.keys.count >= capacity { state.keys = [:] }
            state.keys[source] = derived
        }
        return derived
    }

    /// How many are remembered.
    package var count: Int { state.withLock { $0.keys.count } }
}
