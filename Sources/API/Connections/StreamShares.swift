import Domain
import Synchronization

/// The HTTP/2 streams that connections of a listener have beyond their first ones, by the networks of their peers.
///
/// A network may have as many as connections. Otherwise each of its connections could have all streams that one may
/// have, with incomplete requests or unread answers.
final class StreamShares: Sendable {
    private let limits: NetworkLimits
    private let taken = Mutex<[String: Int]>([:])

    init(_ limits: NetworkLimits) {
        self.limits = limits
    }

    /// Takes a share for a stream; `false` if the address or a network around it has none left.
    func take(at address: String?) -> Bool {
        let networks = limits.counted(address ?? "local")
        return taken.withLock { taken in
            guard networks.allSatisfy({ taken[$0.key, default: 0] < $0.limit }) else { return false }
            for (key, _) in networks { taken[key, default: 0] += 1 }
            return true
        }
    }

    /// Returns a share that a stream took before.
    func give(at address: String?) {
        let networks = limits.counted(address ?? "local")
        taken.withLock { taken in
            for (key, _) in networks {
                let rest = taken[key, default: 0] - 1
                taken[key] = rest > 0 ? rest : nil
            }
        }
    }

    /// The number of networks that have shares.
    var count: Int { taken.withLock { $0.count } }
}
